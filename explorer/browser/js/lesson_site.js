// What the pages Lessons and Class of the site add to its program; they fetch it when they are opened.

import { mountClass } from "./class_page.js";
import { mountLessons } from "./lesson.js";
import { connectScorm } from "./scorm.js";

/** @typedef {import("./lesson.js").LessonOptions} LessonOptions */

/**
 * Opens the lessons; in a package for a learning platform (`isPackage`), it keeps the progress, and `tell` shows what it says.
 * @param {HTMLElement} root @param {Omit<LessonOptions, "storage" | "report">} options @param {boolean} isPackage
 * @param {(sentence: string) => void} tell
 */
export function openLessons(root, options, isPackage, tell) {
  if (!isPackage) return mountLessons(root, options);
  const platform = connectScorm(window, tell);
  tell(platform.message);
  const [first, second] = options.lessons.filter(({ steps }) => steps.length);
  /** @type {Record<string, string>} */
  const place = { ...(second ? {} : { lesson: first.name, at: "1" }), ...platform.place() };
  const { storage, report } = platform;
  const moved = (/** @type {Record<string, string>} */ query) => {
    options.moved(query);
    platform.moved(query);
  };
  return mountLessons(root, { ...options, query: place, moved, storage, report });
}

export const openClass = mountClass;
