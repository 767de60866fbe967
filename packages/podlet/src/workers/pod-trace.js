export function createPodTrace(options) {
    const { tracer, record, now, startedAt } = options;
    const context = { traceId: newId(options.random, 16), spanId: newId(options.random, 8) };
    let finished = false;
    const emit = (span, called, from, to, attributes) => record({ ...span, name: called, startedAt: from, duration: Math.max(0, to - from), attributes });
    return {
        context,
        child: (name, attributes = {}) => tracer.start(name, context, attributes),
        past(name, from, to = now()) {
            const own = { traceId: context.traceId, spanId: newId(options.random, 8), parentId: context.spanId };
            emit(own, name, from, to, {});
        },
        finish(attributes = {}) {
            if (finished)
                return;
            finished = true;
            emit(context, options.name, startedAt, now(), attributes);
        },
    };
}
function newId(random, bytes) {
    const id = Buffer.from(random(bytes)).toString('hex');
    return /^0+$/.test(id) ? `${id.slice(1)}1` : id;
}
//# sourceMappingURL=pod-trace.js.map