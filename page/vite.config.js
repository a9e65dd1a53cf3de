// Three files with fixed names, so that the wheel and the Content-Security-Policy know them.
export default {
  base: "./",
  build: {
    outDir: "../obep/serve/page",
    emptyOutDir: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "page.js",
        assetFileNames: "page.[ext]",
        codeSplitting: false,
      },
    },
  },
};
