// Rules for the components' JavaScript and its tests.

import js from "@eslint/js";

const browser = [
  "Blob",
  "CanvasRenderingContext2D",
  "DOMRect",
  "DataView",
  "DecompressionStream",
  "Element",
  "Event",
  "EventTarget",
  "FormData",
  "ImageData",
  "NodeFilter",
  "Option",
  "ResizeObserver",
  "Response",
  "TextDecoder",
  "TextEncoder",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "WebAssembly",
  "Worker",
  "addEventListener",
  "atob",
  "btoa",
  "caches",
  "cancelAnimationFrame",
  "clearInterval",
  "clearTimeout",
  "crypto",
  "devicePixelRatio",
  "document",
  "fetch",
  "getComputedStyle",
  "globalThis",
  "history",
  "innerHeight",
  "innerWidth",
  "isSecureContext",
  "localStorage",
  "location",
  "matchMedia",
  "navigator",
  "performance",
  "requestAnimationFrame",
  "setTimeout",
  "structuredClone",
  "window",
];

const forbid = (selector, message) => ({ selector, message });

export default [
  { ignores: ["**/node_modules/**"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-implicit-globals": "error",
      "no-self-compare": "error",
      "no-unneeded-ternary": "error",
      "no-unused-vars": ["error", { args: "after-used", caughtErrors: "all" }],
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-useless-return": "error",
      "no-var": "error",
      "one-var": ["error", "never"],
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "prefer-template": "off",
    },
  },
  {
    files: ["explorer/browser/js/**/*.js"],
    languageOptions: { globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
    rules: {
      "no-restricted-properties": [
        "error",
        ...["inner", "outer", "insertAdjacent"].map((start) => ({
          property: `${start}HTML`,
          message: "Text is set as text, never as markup.",
        })),
      ],
      "no-restricted-syntax": [
        "error",
        forbid(
          "ImportDeclaration > Literal:not([value=/^\\.\\.?\\/[\\w-]+\\.js$/])",
          "A module imports files beside it: assets.py joins no others.",
        ),
        forbid("ExportNamedDeclaration[source], ExportAllDeclaration", "A module exports what it declares."),
      ],
    },
  },
  {
    files: ["tests/js/**/*.js"],
    languageOptions: {
      globals: {
        Event: "readonly",
        EventTarget: "readonly",
        TextDecoder: "readonly",
        TextEncoder: "readonly",
        WebAssembly: "readonly",
        process: "readonly",
        URL: "readonly",
        URLSearchParams: "readonly",
        atob: "readonly",
      },
    },
  },
];
