const mostEvents = 50;
export function createPodEvents() {
    const events = new Map();
    return {
        add(type, reason, message, now) {
            const key = `${reason}\n${message}`;
            const known = events.get(key);
            const event = {
                type,
                reason,
                message,
                at: known?.at ?? now,
                lastAt: now,
                count: (known?.count ?? 0) + 1,
            };
            events.delete(key);
            events.set(key, event);
            forgetOldest(events);
            return event;
        },
        list: () => [...events.values()],
    };
}
function forgetOldest(events) {
    const [oldest] = events.keys();
    if (events.size > mostEvents && oldest !== undefined)
        events.delete(oldest);
}
//# sourceMappingURL=pod-events.js.map