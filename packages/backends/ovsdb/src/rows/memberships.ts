import type { Operation } from '@podwire/ovsdb';

/** A column with the set of the rows that hang in a row. */
export interface Place {
  readonly table: string;
  readonly uuid: string;
  readonly column: string;
}

/** Rows that come into sets and go out of them: one operation for each set, however many they are. */
export class Memberships {
  readonly #changes = new Map<string, { place: Place; put: string[]; take: string[] }>();

  put(place: Place, member: string): void {
    this.#of(place).put.push(member);
  }

  take(place: Place, member: string): void {
    this.#of(place).take.push(member);
  }

  /** The guards fail the transaction where the row with the set is gone: what hangs nowhere would vanish unnoticed. */
  operations(): Operation[] {
    return [...this.#changes.values()].flatMap(
      ({ place: { table, uuid, column }, put, take }): Operation[] => {
        const where = [['_uuid', '==', uuid]] as const;
        const mutations = [
          [column, 'delete', take],
          [column, 'insert', put],
        ] as const;
        return [
          { op: 'wait', table, where, columns: [column], until: '!=', rows: [] },
          { op: 'mutate', table, where, mutations },
        ];
      },
    );
  }

  #of(place: Place): { put: string[]; take: string[] } {
    const key = `${place.table}/${place.uuid}/${place.column}`;
    const known = this.#changes.get(key) ?? { place, put: [], take: [] };
    this.#changes.set(key, known);
    return known;
  }
}
