/**
 * A reporter for node:test that writes one JSON line for each test, for the runner to count. The `spec` reporter
 * beside it writes what people read.
 */
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name, nesting, skip, todo, details } = data;
    const isSuite = details?.type === 'suite';
    const failed = type === 'test:fail';
    yield `${JSON.stringify({ failed, name, nesting, skip, todo, isSuite, message: messageOf(details?.error) })}\n`;
  }
}

/** node:test wraps the error of a test in one of its own. */
const messageOf = (error) => (error?.cause?.message ?? error?.cause ?? error?.message)?.toString();
