/**
 * A reporter for node:test that writes one JSON line for each test, for the runner to count. The `spec` reporter
 * beside it writes what people read.
 */
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name, nesting, skip, todo, details } = data;
    const isSuite = details?.type === 'suite';
    yield `${JSON.stringify({ failed: type === 'test:fail', name, nesting, skip, todo, isSuite })}\n`;
  }
}
