import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import java.io.BufferedReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * W1 with Esper, or the mean of the last ten seconds: `Esper w1|mean cold|warm FILE.csv OUT`. Prints the processor
 * time of the last round, and its answers.
 */
public class Esper {
    static final int WARM_ROUNDS = 6;
    static final String W1 =
        "@name('w1') select a.n as a1, b.n as b1, a.room as room, a.time as began, b.time as ended "
            + "from B as b unidirectional, A#time(5 sec) as a where a.room = b.room";
    static final String MEAN = "@name('mean') select avg(n) as mean from A#ext_timed(time, 10 sec)";

    public static class Event {
        private final String room;
        private final long time;
        private final int n;

        Event(String room, long time, int n) {
            this.room = room;
            this.time = time;
            this.n = n;
        }

        public String getRoom() { return room; }
        public long getTime() { return time; }
        public int getN() { return n; }
    }

    public static void main(String[] arguments) throws Exception {
        boolean mean = arguments[0].equals("mean");
        int rounds = arguments[1].equals("warm") ? WARM_ROUNDS : 1;
        long[] found = new long[1];
        double took = 0;
        for (int round = 0; round < rounds; round++) {
            long begin = processorTime();
            found[0] = 0;
            run(mean, Path.of(arguments[2]), Path.of(arguments[3]), found, "round" + round);
            took = (processorTime() - begin) / 1e9;
        }
        System.out.println(took + " " + found[0]);
    }

    static long processorTime() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime();
    }

    static void run(boolean mean, Path in, Path out, long[] found, String name) throws Exception {
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType("A", Event.class);
        configuration.getCommon().addEventType("B", Event.class);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        EPCompiled compiled = EPCompilerProvider.getCompiler()
            .compile(mean ? MEAN : W1, new CompilerArguments(configuration));
        EPRuntime runtime = EPRuntimeProvider.getRuntime(name, configuration);
        runtime.getEventService().advanceTime(0);
        try (BufferedReader lines = Files.newBufferedReader(in);
             PrintWriter answers = new PrintWriter(Files.newBufferedWriter(out))) {
            runtime.getDeploymentService().deploy(compiled).getStatements()[0].addListener((hits, gone, statement, by) -> {
                for (var hit : hits) {
                    found[0]++;
                    if (mean) {
                        answers.println("{\"mean\":" + hit.get("mean") + "}");
                        continue;
                    }
                    answers.println("{\"first\":" + hit.get("a1") + ",\"second\":" + hit.get("b1") + ",\"room\":\""
                        + hit.get("room") + "\",\"start\":" + hit.get("began") + ",\"end\":" + hit.get("ended") + "}");
                }
            });
            lines.readLine();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] fields = line.split(",");
                long time = Long.parseLong(fields[0]);
                runtime.getEventService().advanceTime(time);
                Event event = new Event(fields[1], time, Integer.parseInt(fields[3]));
                runtime.getEventService().sendEventBean(event, fields[2]);
            }
        }
        runtime.destroy();
    }
}
