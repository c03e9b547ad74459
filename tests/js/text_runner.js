// Runs what the page that computes shares with Python: texts in addresses and doubts. tests/explorer/browser/test_site_texts.py
// compares. Standard input: a list of jobs; standard output: the list of answers, as JSON.

import { readFileSync } from "node:fs";

import { doubtOf } from "../../explorer/browser/js/doubt.js";
import { editsOf, readChanges, writeChanges } from "../../explorer/browser/js/head_changes.js";
import { sha256 } from "../../explorer/browser/js/live/sha256.js";
import { isLeftwards, lettersOf, placesOf } from "../../explorer/browser/js/scripts.js";
import { formatView, parseView } from "../../explorer/browser/js/view_options.js";

/** @type {Record<string, (job: any) => any>} */
const JOBS = {
  view: ({ text }) => [parseView(text), formatView(parseView(text))],
  changes({ text, shapes }) {
    const { changes, problems } = readChanges(text, shapes);
    return [writeChanges(changes), problems.length, editsOf(changes)];
  },
  doubt: ({ card, decoding, source, text }) => doubtOf(card, decoding, source, text),
  script: ({ tokens, words }) => [isLeftwards(tokens, words), lettersOf(tokens.join(""))],
  places: ({ tokens, leftwards }) => placesOf(tokens, leftwards),
  hash: ({ length }) => sha256(Uint8Array.from({ length }, (_, i) => i % 251)),
};

const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(jobs.map((/** @type {any} */ job) => JOBS[job.do](job))));
