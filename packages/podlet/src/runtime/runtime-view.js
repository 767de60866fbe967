import { isCriError, } from '@podwire/cri';
import { nodeLabel, readEnd, readPodLabels, uidLabel } from './labels.js';
import { isReady, readContainer, readSandbox, stateOf } from './observe.js';
import { createPodCache } from './pod-cache.js';
import { compact, forEachLimited } from '@podwire/platform';
export function createRuntimeView(options) {
    const cache = createPodCache();
    const context = { ...options, cache };
    return {
        observed: (uid) => cache.observed(uid),
        labels: (uid) => cache.labels(uid),
        endOf: (id) => cache.find(id)?.end,
        uids: () => cache.uids(),
        refreshSandbox: (id, signal) => fetchSandbox(context, id, signal),
        refreshContainer: (id, sandboxId, signal) => fetchContainer(context, id, sandboxId, signal),
        refreshPod: (uid, signal) => refreshPod(context, uid, signal),
        forget: (id) => {
            cache.remove(id, cache.nextSequence());
        },
        relist: (signal) => relist(context, signal),
    };
}
async function list(context, uid, signal) {
    const sequence = context.cache.nextSequence();
    const labelSelector = { [nodeLabel]: context.node, ...(uid === undefined ? {} : { [uidLabel]: uid }) };
    const options = { signal, timeoutMs: context.callTimeoutMs };
    const [sandboxes, containers] = await Promise.all([
        context.runtime.listPodSandbox({ filter: { id: '', labelSelector } }, options),
        context.runtime.listContainers({ filter: { id: '', podSandboxId: '', labelSelector } }, options),
    ]);
    return {
        sequence,
        sandboxes: sandboxes.items.filter((item) => isOurs(context, item)),
        containers: containers.containers.filter((item) => isOurs(context, item)),
    };
}
/** Events tell of everything in the runtime. */
function isOurs({ node }, item) {
    return item.labels[nodeLabel] === node;
}
async function relist(context, signal) {
    const listing = await list(context, undefined, signal);
    const { cache } = context;
    const changed = new Set();
    const fetches = [
        ...listing.sandboxes
            .filter((sandbox) => cache.mark(sandbox.id, listing.sequence)?.sandbox?.ready !== isReady(sandbox))
            .map((sandbox) => ({ uid: uidOf(sandbox), fetch: () => fetchSandbox(context, sandbox.id, signal) })),
        ...listing.containers
            .filter((one) => cache.mark(one.id, listing.sequence)?.container?.state !== stateOf(one))
            .map((one) => ({
            uid: uidOf(one),
            fetch: () => fetchContainer(context, one.id, one.podSandboxId, signal),
        })),
    ];
    const vanished = sweep(cache, listing.sequence, changed);
    await forEachLimited(fetches, context.concurrentStatus, async ({ uid, fetch }) => {
        if (await succeeds(fetch))
            changed.add(uid);
    });
    return { changed, vanished };
}
/** One that cannot be asked keeps its old state, so that the next listing finds the change again. */
async function succeeds(fetch) {
    try {
        await fetch();
        return true;
    }
    catch {
        return false;
    }
}
/** Forgets what the listing did not have, unless it is newer than the sequence. */
function sweep(cache, sequence, changed) {
    const gone = cache.unmarked(sequence);
    for (const { id, uid } of gone) {
        cache.remove(id, sequence);
        changed.add(uid);
    }
    return gone.filter((entry) => entry.sandbox !== undefined).map(({ id, uid }) => ({ id, uid }));
}
function uidOf(item) {
    return item.labels[uidLabel] ?? '';
}
async function refreshPod(context, uid, signal) {
    const listing = await list(context, uid, signal);
    const listed = new Set([...listing.sandboxes, ...listing.containers].map(({ id }) => id));
    context.cache.removeOthers(uid, listed, listing.sequence);
    await Promise.all([
        ...listing.sandboxes.map((sandbox) => fetchSandbox(context, sandbox.id, signal)),
        ...listing.containers.map((one) => fetchContainer(context, one.id, one.podSandboxId, signal)),
    ]);
}
async function fetchSandbox(context, id, signal) {
    const { cache, runtime, callTimeoutMs: timeoutMs } = context;
    const sequence = cache.nextSequence();
    const status = await unlessGone(async () => {
        const answer = await runtime.podSandboxStatus({ podSandboxId: id, verbose: false }, { signal, timeoutMs });
        return answer.status;
    });
    if (status === undefined)
        cache.remove(id, sequence);
    else if (isOurs(context, status))
        putSandbox(cache, status, sequence);
}
function putSandbox(cache, status, sequence) {
    const labels = readPodLabels(status.labels, status.annotations);
    const sandbox = readSandbox(status);
    if (labels !== undefined)
        cache.put({ id: sandbox.id, uid: labels.uid, sandbox }, labels, sequence);
}
async function fetchContainer(context, id, sandboxId, signal) {
    const { cache, runtime, callTimeoutMs: timeoutMs } = context;
    const sequence = cache.nextSequence();
    const status = await unlessGone(async () => {
        const answer = await runtime.containerStatus({ containerId: id, verbose: false }, { signal, timeoutMs });
        return answer.status;
    });
    if (status === undefined)
        cache.remove(id, sequence);
    else if (isOurs(context, status))
        putContainer(cache, status, sandboxId, sequence);
}
function putContainer(cache, status, sandboxId, sequence) {
    const labels = readPodLabels(status.labels, status.annotations);
    if (labels === undefined)
        return;
    const container = readContainer(status, sandboxId);
    const end = readEnd(status.labels, status.annotations);
    const entry = { id: container.id, uid: labels.uid, container, ...compact({ end }) };
    cache.put(entry, labels, sequence);
}
async function unlessGone(fetch) {
    try {
        return await fetch();
    }
    catch (error) {
        if (isCriError(error, 'NOT_FOUND'))
            return undefined;
        throw error;
    }
}
//# sourceMappingURL=runtime-view.js.map