// Makes the second visit work without a network. Files whose address has a hash never change and are taken from the
// store; documents come from the network if there is one, so that an update replaces the page, its code and its weights together.

const FIRST = ["%FIRST%"]; // the documents and the program, which every page needs
const FILES = ["%FILES%"]; // all files whose address has a hash
const HASHED = /-[0-9a-f]{10}\.\w+$/;
const worker = /** @type {any} */ (globalThis);
const OURS = `headlight ${worker.registration.scope} `; // other sites of the same host have stores of their own
const STORE = `${OURS}%VERSION%`;

worker.oninstall = (/** @type {any} */ event) => event.waitUntil(begin());

worker.onactivate = (/** @type {any} */ event) => event.waitUntil(tidy());

worker.onfetch = (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method === "GET" && origin === location.origin)
    event.respondWith(HASHED.test(pathname) ? stored(request) : fresh(request));
};

/** Stores what every page needs; until that is there, the version before stays in use. */
async function begin() {
  const store = await caches.open(STORE);
  await store.addAll(FIRST.map((address) => new worker.Request(address, { cache: "no-cache" })));
  await worker.skipWaiting();
}

/** Takes over what earlier versions stored and this one uses, too, and removes the rest. */
async function tidy() {
  const store = await caches.open(STORE);
  const used = new Set(FILES.map((address) => new URL(address, worker.registration.scope).href));
  for (const name of await caches.keys()) {
    if (!name.startsWith(OURS) || name === STORE) continue;
    const old = await caches.open(name);
    for (const request of await old.keys()) {
      const answer = used.has(request.url) && (await old.match(request));
      if (answer) await store.put(request, answer);
    }
    await caches.delete(name);
  }
  await worker.clients.claim();
}

/** @param {Request} request */
async function stored(request) {
  const store = await caches.open(STORE);
  const found = await store.match(request);
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) await store.put(request, answer.clone());
  return answer;
}

/** A document, without the parameters of its address: they are the page's own. @param {Request} request */
async function fresh(request) {
  const store = await caches.open(STORE);
  const address = request.url.split(/[?#]/)[0];
  try {
    const answer = await fetch(request);
    if (answer.ok) await store.put(address, answer.clone());
    return answer;
  } catch (error) {
    const found = await store.match(address);
    if (found) return found;
    throw error;
  }
}
