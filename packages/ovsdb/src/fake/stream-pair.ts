import { Duplex } from 'node:stream';

/** Two streams, each of which reads what is written to the other. The end of one is the end of both. */
export function createStreamPair(): readonly [Duplex, Duplex] {
  const one = createEnd(() => other);
  const other = createEnd(() => one);
  return [one, other];
}

function createEnd(peer: () => Duplex): Duplex {
  const end = (): void => {
    if (!peer().destroyed) peer().push(null);
  };
  return new Duplex({
    read: () => undefined,
    write(chunk, _encoding, done) {
      if (!peer().destroyed) peer().push(chunk);
      done();
    },
    final(done) {
      end();
      done();
    },
    destroy(error, done) {
      end();
      done(error);
    },
  });
}
