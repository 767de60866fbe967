/** The table `Database` of the database `_Server`: what a server says about the databases it serves (ovsdb-server(5)). */
import { parseSchema } from '../parse-schema.js';
import type { Row } from '../decode.js';

const optional = (type: string): object => ({ type: { key: type, min: 0, max: 1 } });

/** Of the schema of `_Server`, the part that is read. */
export const serverSchemaJson = {
  name: '_Server',
  tables: {
    Database: {
      columns: {
        name: { type: 'string' },
        model: { type: 'string' },
        connected: { type: 'boolean' },
        leader: { type: 'boolean' },
        schema: optional('string'),
      },
    },
  },
};

export const serverSchema = parseSchema(serverSchemaJson);

export const serverRequest = { Database: { columns: ['name', 'model', 'connected', 'leader', 'schema'] } };

/** Says why a server cannot be used for a database; `undefined` when it can. */
export function findObstacle(rows: Iterable<Row>, database: string, leaderOnly: boolean): string | undefined {
  const row = [...rows].find(({ name }) => name === database);
  if (row === undefined) return `it does not serve the database ${database}`;
  if (row['connected'] === false) return 'it has lost its cluster';
  if (leaderOnly && row['leader'] === false) return 'it does not lead its cluster';
  return undefined;
}
