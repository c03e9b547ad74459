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
  "Path2D",
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

const modules = [
  forbid(
    "ImportDeclaration > Literal:not([value=/^\\.\\.?\\/[\\w-]+\\.js$/])",
    "A module imports files beside it: assets.py joins no others.",
  ),
  forbid("ExportNamedDeclaration[source], ExportAllDeclaration", "A module exports what it declares."),
];

// Texts of the interface: each is a message of `t` or `pieces`, with the object of the fields that it names.
const call = "CallExpression[callee.name=/^(t|pieces)$/]";
const field = "[arguments.0.value=/\\{\\w+\\}/]";
const sentence = "/(^|[^\\w{$])[A-Z][a-z]+ [a-z]|[a-z]{3,} [a-z]{2,} [a-z]{2,}/";
const calls = [
  forbid(`${call}:not([arguments.0.type='Literal'])`, "A message is a literal."),
  forbid(`${call}${field}[arguments.length=1]`, "The fields of this message are not given."),
  forbid(`${call}[arguments.length=2][arguments.1.type='Literal']`, "A message with two forms has at least a number."),
  forbid(`${call}[arguments.length=2]:not(${field})`, "This message has no fields."),
];
const texts = [
  forbid(`:not(${call}) > Literal[value=${sentence}]:not(Property > .key)`, "A text is the message of `t`."),
  forbid(`TemplateElement[value.cooked=${sentence}]`, "A text is the message of `t`."),
];
// What looks like a text and nobody reads; errors of the programmer; what is said when nothing could be loaded.
const withoutTexts = ["live/decode.js", "machine_band.js", "mount.js", "names.js", "standalone_boot.js", "words.js"];

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
      "no-restricted-syntax": ["error", ...modules, ...calls, ...texts],
    },
  },
  {
    files: withoutTexts.map((name) => `explorer/browser/js/${name}`),
    rules: { "no-restricted-syntax": ["error", ...modules, ...calls] },
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
