import { newestFirst, nothingObserved, } from '../lifecycle/observed.js';
export function createPodCache() {
    const slots = new Map();
    const groups = new Map();
    /** Removed things, so that an answer which was under way does not bring them back. */
    const tombstones = new Map();
    let last = 0;
    const isOutdated = (id, sequence) => sequence < (slots.get(id)?.sequence ?? 0) || sequence < (tombstones.get(id) ?? 0);
    const drop = (id, slot) => {
        const group = groups.get(slot.entry.uid);
        slots.delete(id);
        group?.ids.delete(id);
        if (group !== undefined)
            group.observed = undefined;
        if (group?.ids.size === 0)
            groups.delete(slot.entry.uid);
    };
    const remove = (id, sequence) => {
        if (isOutdated(id, sequence))
            return;
        tombstones.set(id, sequence);
        const slot = slots.get(id);
        if (slot !== undefined)
            drop(id, slot);
    };
    const put = (entry, labels, sequence) => {
        if (isOutdated(entry.id, sequence))
            return;
        const slot = slots.get(entry.id);
        slots.set(entry.id, { entry, sequence, marked: slot?.marked ?? 0 });
        const group = groups.get(entry.uid) ?? { labels, ids: new Set(), observed: undefined };
        group.ids.add(entry.id);
        // Containers know the grace period, sandboxes do not.
        group.labels = { ...group.labels, ...labels };
        group.observed = undefined;
        groups.set(entry.uid, group);
    };
    return {
        nextSequence: () => ++last,
        find: (id) => slots.get(id)?.entry,
        put,
        remove,
        mark(id, sequence) {
            const slot = slots.get(id);
            if (slot !== undefined)
                slot.marked = sequence;
            return slot?.entry;
        },
        unmarked(sequence) {
            for (const [id, removedAt] of tombstones)
                if (removedAt < sequence)
                    tombstones.delete(id);
            const gone = [];
            for (const slot of slots.values()) {
                if (slot.marked < sequence && slot.sequence < sequence)
                    gone.push(slot.entry);
            }
            return gone;
        },
        removeOthers(uid, listed, sequence) {
            for (const id of [...(groups.get(uid)?.ids ?? [])])
                if (!listed.has(id))
                    remove(id, sequence);
        },
        observed(uid) {
            const group = groups.get(uid);
            if (group === undefined)
                return nothingObserved;
            group.observed ??= assemble([...group.ids].flatMap((id) => slots.get(id)?.entry ?? []));
            return group.observed;
        },
        labels: (uid) => groups.get(uid)?.labels,
        uids: () => groups.keys(),
    };
}
function assemble(entries) {
    return {
        sandboxes: entries.flatMap(({ sandbox }) => sandbox ?? []).sort(newestFirst),
        containers: entries.flatMap(({ container }) => container ?? []).sort(newestFirst),
    };
}
//# sourceMappingURL=pod-cache.js.map