// What a reader chose for good: the colours, where tests are opened.

// A browser may refuse storage to a page from file://; a choice then lasts as long as the page, and null is stored.
function withStorage(work) {
  try {
    return work(localStorage);
  } catch {
    return null;
  }
}

export const stored = (name) => withStorage((storage) => storage.getItem(name));
export const store = (name, value) => withStorage((storage) => storage.setItem(name, value));
