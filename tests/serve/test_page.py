"""The page in a real browser: what comes is shown, explained, edited and acknowledged, and runs no script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Route, expect
from serve.browser import Opened, chromium
from serve.conftest import QUERY, Running, line
from serve.test_service_calls import PLACED

pytestmark = pytest.mark.slow

Open = Callable[..., Opened]
HACK = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
TAGGED = """EVENT Tagged MATCH Hot IF { EVENT Hot { ?x :tag ?tag . } }
RETURN Tagged
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One service for all tests that do not change its query; each sends things of its own, later than those
    of the tests before it."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "query.obep").write_text(QUERY.replace("TO Cool(?x)", "TO Cool(?x) TIMEOUT 1 d") + TAGGED)
    running = Running(folder)
    yield running
    running.kill()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens pages; at the end none of them has met an error, nor has a script of a stream run in it."""
    pages: list[Opened] = []

    def make(url: str, view: str = "", scheme: str = "light") -> Opened:
        pages.append(Opened(browser, url, view, scheme))
        return pages[-1]

    yield make
    for one in pages:
        assert one.trouble == []
        assert one.page.evaluate("window.hacked") is None
        one.page.context.close()


seconds = count(10, 10)


def test_what_comes_is_shown_as_it_comes_unless_it_is_paused(service: Running, opened: Open) -> None:
    page = opened(service.url).open()
    canvas = page.locator("#timeline")
    before = len(service.client.get("/events").json()["events"])
    expect(canvas).to_have_attribute("data-count", str(before))
    live = service.post(line(next(seconds), thing="live")).json()["next"]
    assert live > before
    expect(canvas).to_have_attribute("data-count", str(live))
    canvas.press(" ")
    expect(page.locator("#pause")).to_have_attribute("aria-pressed", "true")
    after = service.post(line(next(seconds), thing="paused")).json()["next"]
    expect(page.locator("#pause")).to_have_text(f"Go on ({after - live} waiting)")
    expect(canvas).to_have_attribute("data-count", str(live))
    page.click("#pause")
    expect(canvas).to_have_attribute("data-count", str(after))


def test_a_click_leads_to_the_facts_and_definitions_behind_it(service: Running, opened: Open) -> None:
    at = next(seconds)
    service.post(line(at, thing="clicked"), line(at + 1, False, "clicked"), line(at + 2))
    one = opened(service.url)
    page = one.open()
    found = service.client.get("/events/Pair").json()["events"][-1]
    page.fill("#filter", "Pair")
    canvas = page.locator("#timeline")
    canvas.press("ArrowDown")
    canvas.press("End")
    expect(canvas).to_have_attribute("data-chosen", re.compile("Pair"))
    for _ in range(20):
        canvas.press("ArrowRight")
    expect(canvas).to_have_attribute("data-chosen", found["id"])
    x, y = map(int, (canvas.get_attribute("data-at") or "").split(","))
    page.mouse.click(canvas.bounding_box()["x"] + x, canvas.bounding_box()["y"] + y)  # type: ignore[index]
    expect(page.locator("#explanation")).to_have_attribute("data-id", found["id"])
    expect(page.locator("#explanation h2")).to_contain_text("Pair")
    facts = page.locator("#explanation .node.item text:first-of-type")
    assert sorted(facts.all_text_contents()) == ["clicked hot false", "clicked hot true"]
    expect(page.locator("#explanation .node.rule", has_text="SEQ")).to_have_count(1)
    bars = page.locator("#explanation .bars")
    expect(bars).to_have_attribute("aria-label", f"Hot at {at}; Cool at {at + 1}")


def test_the_known_facts_behind_a_guard_are_in_the_graph(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text("@prefix : <http://e/> . :p1 :in :r . :r a :Hall .")
    (tmp_path / "query.obep").write_text(PLACED)
    service = Running(tmp_path)
    try:
        service.post(line(1), line(2, False))
        one = opened(service.url)
        page = one.open()
        one.choose("Placed")
        page.locator("#timeline").press("Enter")
        known = page.locator("#explanation .node.known text:first-of-type")
        expect(known).to_have_count(2)
        assert sorted(known.all_text_contents()) == ["p1 in r", "r type Hall"]
    finally:
        service.kill()


def test_a_mistake_is_marked_as_it_is_typed_and_cannot_go_live(service: Running, opened: Open) -> None:
    page = opened(service.url, "query").open()
    editor = page.locator("#editor .cm-content")
    expect(page.locator("#errors")).to_have_text("Nothing is wrong.")
    editor.press("Control+End")
    page.keyboard.type("EVENT Y MATCH Nowhere")
    expect(page.locator("#errors .error")).to_contain_text("OBEP100")
    assert page.locator("#editor .cm-lintRange-error").all_text_contents() == ["Nowhere"]
    expect(page.locator("#put")).to_be_disabled()
    for _ in "EVENT Y MATCH Nowhere":
        page.keyboard.press("Backspace")
    expect(page.locator("#put")).to_be_enabled()


def test_a_query_is_tried_on_recorded_items_without_a_change(service: Running, opened: Open) -> None:
    page = opened(service.url, "query").open()
    expect(page.locator("#errors")).to_have_text("Nothing is wrong.")
    before = service.client.get("/events").json()
    recorded = line(1, thing="old") + "no record\n" + line(2, False, "old")
    file = {"name": "recorded.jsonl", "mimeType": "text/plain", "buffer": recorded.encode()}
    page.set_input_files("#recorded", files=[file])  # type: ignore[list-item]
    page.click("#try")
    expect(page.locator("#result p").first).to_have_text("2 items, 4 found, 1 refused.")
    expect(page.locator("#trial")).to_have_attribute("data-count", "3")  # an alert fires and is resolved
    page.locator("#trial").press("ArrowDown")
    page.locator("#trial").press("Enter")
    expect(page.locator("#explanation h2")).to_contain_text("old")
    assert service.client.get("/events").json() == before


def test_a_trial_that_ends_late_does_not_hide_the_dry_run(service: Running, opened: Open) -> None:
    page = opened(service.url, "query").open()
    expect(page.locator("#errors")).to_have_text("Nothing is wrong.")
    held: list[Route] = []
    page.route("**/try", lambda route: held.append(route))
    page.click("#try")
    page.click("#put")
    expect(page.locator("#confirm")).to_be_focused()
    with page.expect_response("**/try"):
        held[0].continue_()
    expect(page.locator("#result h3")).to_have_text("What would happen")
    page.unroute("**/try")
    page.click("#try")
    expect(page.locator("#result p").first).to_contain_text(" items, ")


def test_rows_with_numbers_are_in_their_order(service: Running, opened: Open) -> None:
    page = opened(service.url).open()
    at = next(seconds)
    service.post(line(at, thing="row10"), line(at, thing="row9"))
    page.fill("#filter", "Hot row")
    canvas = page.locator("#timeline")
    expect(canvas).to_have_attribute("data-lanes", "2")
    canvas.press("ArrowDown")
    expect(page.locator("#spoken")).to_contain_text("row9")


def test_a_rule_is_put_live_after_its_dry_run_and_goes_no_further_if_left(
    opened: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "live"
    folder.mkdir()
    text = QUERY.replace("TO Cool(?x)", "TO Cool(?x) TIMEOUT 1 d")
    (folder / "query.obep").write_text(text)
    service = Running(folder)
    try:
        service.post(line(1, thing="kept"))
        page = opened(service.url, "query").open()
        expect(page.locator("#errors")).to_have_text("Nothing is wrong.")
        page.locator("#editor .cm-content").press("Control+End")
        page.keyboard.type("EVENT Chill MATCH Cool\nRETURN Chill\n")
        expect(page.locator("#errors")).to_have_text("Nothing is wrong.")
        page.click("#try")  # on what the log still has
        expect(page.locator("#result p").first).to_contain_text("1 items, ")
        page.click("#put")
        effects = page.locator("#result .effects")
        expect(effects).to_contain_text(re.compile("keep their state.*Pair.*begin empty.*Chill"))
        assert "Chill" not in service.client.get("/queries").json()["queries"][0]["text"]
        page.click("#confirm")
        expect(page.locator("#is-live")).to_be_visible()
        service.post(line(2, False, "kept"), line(3))
        found = {one.get("event") for one in service.client.get("/events").json()["events"]}
        assert {"http://e/Chill", "http://e/Pair"} <= found  # Pair began before
        page.click("#tab-plan")
        expect(page.locator("#plan .node", has_text="Chill")).to_be_visible()
    finally:
        service.kill()


def test_a_token_is_asked_for_and_kept_in_the_tab_alone(opened: Open, tmp_path: Path) -> None:
    folder = tmp_path / "guarded"
    folder.mkdir()
    (folder / "query.obep").write_text(QUERY)
    (folder / "obep.toml").write_text('[serve.tokens.ann]\nrole = "write"\ntoken = "${PAGE_TOKEN}"\n')
    token = "a-token-of-this-test-alone"
    service = Running(folder, PAGE_TOKEN=token)
    try:
        page = opened(service.url).page
        page.goto(service.url)
        for typed in ("not-this-one-at-all", token):
            page.fill("#token", typed)
            page.keyboard.press("Enter")
        expect(page.locator("#status.live")).to_be_visible()
        kept = page.evaluate("[JSON.stringify(localStorage), document.cookie, location.href].join()")
        assert token not in kept
        assert page.evaluate("Object.values(sessionStorage)") == [token]
    finally:
        service.kill()


def test_an_alert_is_acknowledged_snoozed_and_explained(service: Running, opened: Open) -> None:
    at = next(seconds)
    service.post(line(at, thing="burning"), line(at + 1))
    page = opened(service.url, "alerts").open()
    row = page.locator("#alerts tbody tr", has_text="burning")
    page.fill("#who", "ann")
    page.fill("#comment", HACK)
    row.get_by_role("button", name="Acknowledge").click()
    expect(row).to_contain_text("acknowledged")
    expect(row).to_contain_text(HACK)
    row.get_by_role("button", name="Snooze").click()
    expect(row).to_contain_text("snoozed until")
    alerts = service.client.get("/alerts").json()["alerts"]
    (alert,) = [one for one in alerts if "burning" in str(one["labels"])]
    assert alert["notes"]["acknowledged"]["by"] == alert["notes"]["snoozed"]["by"] == "ann"
    row.get_by_role("button", name="Unsnooze").click()
    expect(row).not_to_contain_text("snoozed")
    row.get_by_role("button", name="Warm", exact=True).click()
    expect(page.locator("#explanation")).to_have_attribute("data-id", alert["id"])


def test_the_plan_counts_and_names_what_holds_the_watermark(service: Running, opened: Open) -> None:
    page = opened(service.url, "plan").open()
    node = page.locator("#plan .node.event", has_text="Pair")
    expect(node).to_contain_text("reported")
    before = node.text_content()
    at = next(seconds)
    service.post(line(at, thing="planned"), line(at + 1, False, "planned"), line(at + 2))
    expect(node).not_to_have_text(before or "")
    plan = service.client.get("/plan").json()
    expect(page.locator("#plan-facts")).to_contain_text(str(plan["watermark"]))
    (pair,) = [one for one in plan["events"] if one["name"] == "Pair"]
    expect(node).to_contain_text(f"{pair['reported']} reported")
    node.press("Enter")
    expect(page.locator("#plan-operators")).to_contain_text(f"Pair: {pair['held']} held")


def test_every_edge_of_the_plan_lies_within_its_picture(opened: Open, tmp_path: Path) -> None:
    """One that passes a node may be led above the highest of them."""
    seen = "EVENT Seen AS (obep:Acknowledgement)\nEVENT Pair(?x) MATCH Hot(?x) SEQ Cool(?x)"
    text = "PREFIX obep: <https://w3id.org/obep#>\n" + QUERY.replace("EVENT Pair MATCH Hot SEQ Cool", seen)
    (tmp_path / "query.obep").write_text(text.replace("RETURN Hot", "RETURN Hot, Seen"))
    service = Running(tmp_path)
    page = opened(service.url, "plan").open()
    expect(page.locator("#plan .edge")).not_to_have_count(0)
    outside = """svg => [...svg.querySelectorAll(".edge")].filter((edge) => {
      const [one, all] = [edge.getBBox(), svg.viewBox.baseVal];
      const [right, bottom] = [all.x + all.width, all.y + all.height];
      return one.x < all.x || one.y < all.y || one.x + one.width > right || one.y + one.height > bottom;
    }).length"""
    found = page.locator("#plan svg").evaluate(outside)
    service.stop()
    assert found == 0


def test_a_query_is_begun_beside_the_others_seen_in_the_plan_and_deleted(
    opened: Open, tmp_path: Path
) -> None:
    (tmp_path / "query.obep").write_text(QUERY)
    service = Running(tmp_path)
    try:
        page = opened(service.url, "query").open()
        expect(page.locator("#delete")).to_be_disabled()
        page.fill("#new-query", "second")
        page.click("#begin")
        editor = page.locator("#editor .cm-content")
        expect(editor).to_contain_text("PREFIX")  # the head of the one before
        editor.click()
        page.keyboard.press("Control+End")
        page.keyboard.type(
            "EVENT Hot AS (hot value true)\nEVENT Two MATCH Hot SEQ Hot AS B WITHIN 5 s\nRETURN Two\n"
        )
        expect(page.locator("#put")).to_be_enabled()
        expect(page.locator("#errors")).to_contain_text("Nothing is wrong")
        page.click("#put")
        page.click("#confirm")
        expect(page.locator("#is-live")).to_be_visible()
        names = [one["name"] for one in service.client.get("/queries").json()["queries"]]
        assert names == ["query", "second"]
        page.click("#tab-plan")
        page.select_option("#plan-query", "second")
        node = page.locator("#plan .node.event", has_text="Two")
        node.press("Enter")
        expect(page.locator("#plan-operators")).to_contain_text("sequence (SEQ)")
        page.click("#tab-query")
        page.select_option("#query-name", "second")
        page.click("#delete")
        expect(page.locator("#result")).to_contain_text("Two")
        page.click("#confirm")
        expect(page.locator("#is-gone")).to_be_visible()
        assert [one["name"] for one in service.client.get("/queries").json()["queries"]] == ["query"]
    finally:
        service.kill()


def test_why_not_and_dead_letters_are_answered(service: Running, opened: Open) -> None:
    page = opened(service.url, "whynot").open()
    page.fill("#whynot", "Pair")
    page.keyboard.press("Enter")
    expect(page.locator("#whynot-answer pre")).to_contain_text("Pair")
    page.fill("#whynot", "Pears")
    page.keyboard.press("Enter")
    expect(page.locator("#whynot-answer .error")).to_contain_text("Pears")
    service.post(f"{HACK}\n")
    page.click("#tab-letters")
    expect(page.locator("#view-letters tbody tr").first).to_contain_text("OBEP600")
    expect(page.locator("#view-letters pre.raw").first).to_contain_text(HACK)


def test_a_script_in_a_literal_is_shown_as_text(service: Running, opened: Open) -> None:
    at = next(seconds)
    tagged = f"<http://e/x> <http://e/hot> true ; <http://e/tag> {json.dumps(HACK)} ."
    service.post(json.dumps({"time": at, "graph": tagged}) + "\n", line(at + 1))
    one = opened(service.url)
    page = one.open()
    one.choose("Tagged")
    page.locator("#timeline").press("Enter")
    expect(page.locator("#explanation table")).to_contain_text(HACK)
    assert page.locator("#explanation img, #explanation script").count() == 0


def test_names_and_ids_of_a_hostile_service_are_shown_as_text(service: Running, opened: Open) -> None:
    """The page trusts no record, whoever wrote it."""
    record = {
        "event": f"{HACK}hostile",
        "id": f"urn:obep:{HACK}",
        "start": 1,
        "end": 2,
        "detected": 2,
        "because": [],
    }
    record["bindings"] = [{HACK: HACK}]
    one = opened(service.url)
    one.page.route("**/events?*", lambda route: _records(route, [record]))
    cause = {"event": record["event"], "start": 1, "end": 2, "assertions": [HACK], "individual": HACK}
    record["because"] = [cause]
    why = {"id": record["id"], "record": record, "text": HACK, "axioms": {record["event"]: [HACK]}}
    one.page.route("**/why", lambda route: route.fulfill(json=why))
    defined = {"iri": HACK, "name": f"{HACK}hostile", "parameters": [HACK], "text": HACK}
    node = {"id": "e0", "kind": HACK, "text": HACK}
    explained = {"text": HACK, "definitions": [defined], "graph": {"nodes": [node], "edges": []}}
    one.page.route("**/explain", lambda route: route.fulfill(json=explained))
    page = one.open()
    one.choose("hostile")
    page.locator("#timeline").press("Enter")
    expect(page.locator("#explanation h2")).to_contain_text("onerror")
    assert page.locator("img").count() == 0


def test_a_script_that_gets_into_the_page_is_not_run(service: Running, opened: Open) -> None:
    one = opened(service.url)
    page = one.open()
    for attempt in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.createElement('script').setAttribute('src', 'https://example.org/x.js')",
        "document.createElement('script').textContent = 'window.hacked = 1'",
    ):
        with pytest.raises(Error, match=r"TrustedHTML|TrustedScript"):
            page.evaluate(f"() => {{ {attempt}; }}")
    policy = service.client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    one.trouble.clear()


def test_everything_is_reached_by_keyboard(service: Running, opened: Open) -> None:
    at = next(seconds)
    service.post(line(at, thing="keyed"), line(at + 1))
    one = opened(service.url)
    page = one.open()
    page.locator("#tab-time").focus()
    views = ["alerts", "query", "plan", "letters", "whynot", "time"]
    for view in views:
        page.keyboard.press("ArrowRight")
        expect(page.locator(f"#tab-{view}")).to_be_focused()
        expect(page.locator(f"#view-{view}")).to_be_visible()
        expect(page.locator("[role=tabpanel]:visible")).to_have_count(1)
    for _ in range(12):
        if page.evaluate("document.activeElement.id") == "timeline":
            break
        page.keyboard.press("Tab")
    expect(page.locator("#timeline")).to_be_focused()
    one.choose("Hot keyed")
    page.locator("#timeline").press("Enter")
    expect(page.locator("#explanation h2")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#timeline")).to_be_focused()
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, canvas, [role=tabpanel]')]
            .filter((one) => !one.labels?.length && !one.textContent.trim() && !one.ariaLabel)
            .map((one) => one.outerHTML)"""
    )
    assert unnamed == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(service: Running, opened: Open, scheme: str) -> None:
    page = opened(service.url, "query", scheme).open()
    expect(page.locator("#errors")).to_have_text("Nothing is wrong.")
    colours = page.evaluate(
        """(names) => Object.fromEntries(names.map((name) => {
            const probe = document.createElement('p');
            probe.style.color = `var(--${name})`;
            document.body.append(probe);
            const found = getComputedStyle(probe).color.match(/[0-9.]+/g).map(Number);
            probe.remove();
            return [name, found];
        }))""",
        ["ink", "faint", "accent", "bad", "good", "warn", "paper", "shade"],
    )
    assert (_luminance(colours["paper"]) < 0.1) == (scheme == "dark")
    for name in ("ink", "faint", "accent", "bad", "good", "warn"):
        for ground in ("paper", "shade"):
            assert _contrast(colours[name], colours[ground]) >= 4.5, (scheme, name, ground)


MANY = """(() => {
  const real = window.fetch;
  const events = Array.from({ length: 100000 }, (_, n) => ({
    event: `http://e/E${n % 7}`,
    id: `urn:obep:${n}`,
    start: n,
    end: n + (n % 5),
    bindings: [{ x: `<http://e/x${n % 50}>` }],
  }));
  const answer = JSON.stringify({ events, next: 1e6 });
  window.fetch = async (path, init) =>
    path.startsWith("events?since=0") ? new Response(answer) : real(path, init);
})()"""
"""What was found, made in the browser."""


def test_a_hundred_thousand_occurrences_are_drawn_as_few_marks(service: Running, opened: Open) -> None:
    one = opened(service.url)
    one.page.add_init_script(MANY)
    page = one.open()
    canvas = page.locator("#timeline")
    expect(canvas).to_have_attribute("data-count", "100000")
    expect(canvas).to_have_attribute("data-lanes", "350")
    box = canvas.bounding_box()
    assert box is not None
    assert 0 < int(canvas.get_attribute("data-drawn") or 0) <= box["width"] / 3 * box["height"] / 22
    for _ in range(6):
        canvas.press("+")
    page.select_option("#rows", "event")
    expect(canvas).to_have_attribute("data-lanes", "7")
    assert 0 < int(canvas.get_attribute("data-drawn") or 0) <= box["width"] / 3 * 7


def _records(route: Route, records: list[dict[str, object]]) -> None:
    route.fulfill(json={"events": records if "since=0" in route.request.url else [], "next": 1_000_000})


def _luminance(colour: list[float]) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (one / 255 for one in colour[:3])
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: list[float], other: list[float]) -> float:
    """As WCAG defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)
