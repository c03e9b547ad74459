// Makes the second visit work without a network. Files whose address has a hash never change and are taken from the
// store; documents come from the network if there is one, so that an update replaces the page, its code and its weights together.

const STORE = "headlight-%VERSION%";
const HASHED = /-[0-9a-f]{10}\.\w+$/;
const worker = /** @type {any} */ (globalThis);

worker.oninstall = () => worker.skipWaiting();

worker.onactivate = (/** @type {any} */ event) => event.waitUntil(tidy());

worker.onfetch = (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method === "GET" && origin === location.origin)
    event.respondWith(HASHED.test(pathname) ? stored(request) : fresh(request));
};

/** Removes what earlier versions stored and this one does not use. */
async function tidy() {
  for (const name of await caches.keys())
    if (name.startsWith("headlight-") && name !== STORE) await caches.delete(name);
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
