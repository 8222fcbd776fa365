// The data files beside the page, which are read when they are first needed. A page opened from file:// may not fetch,
// so they are scripts: each hands its data to the one function of the page that it calls.

import { el } from "./elements.js";

export class Files {
  #base;
  #received = new Map();

  constructor(base) {
    this.#base = base;
  }

  receive(key, data) {
    this.#received.set(key, data);
  }

  received(key) {
    return this.#received.get(key) ?? null;
  }

  // Calls done(data, ""), once a file is read that was not yet, or done(null, sentence) where it did not deliver what has
  // this key.
  load(path, key, done) {
    if (this.received(key)) return done(this.received(key), "");
    const file = this.#base + path;
    const end = (sentence) => {
      script.remove();
      const data = this.received(key);
      done(data, data === null ? sentence : "");
    };
    const script = el("script", {
      src: file,
      onload: () => end(`${file} is damaged: write the report again.`),
      onerror: () => end(`${file} is missing: keep the folder ${this.#base} beside this page.`),
    });
    document.head.append(script);
  }
}
