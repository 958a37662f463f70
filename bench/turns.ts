import type { Build } from './builds.ts';
import type { Compared } from './beside-table.ts';
import type { TargetName } from './targets.ts';

/** The measurements of one build, one value a round. */
export type BuildRounds<T> = {
  readonly build: Build;
  readonly rounds: readonly T[];
  /** A row's name, with the build's when there are two. */
  readonly title: (row: string) => string;
};

/** Measurements of builds that take turns: disturbances of the machine affect all of them. */
export type Turns<T> = {
  /** One round: every build once. The order alternates, so that no build is always second. */
  readonly take: (measure: (build: Build) => Promise<T>) => Promise<void>;
  /** The builds, this one first. */
  readonly all: readonly BuildRounds<T>[];
  /** This build's rounds. */
  readonly own: readonly T[];
  /** One row of the comparison with the other build; none without one. */
  readonly compare: (row: string, read: (round: T) => number, target?: TargetName) => readonly Compared[];
};

/**
 * @param builds this build, and perhaps another one
 * @param roundsBefore earlier rounds of the scenario, when each of its measurements has its own turns
 */
export function createTurns<T>(builds: readonly Build[], roundsBefore = 0): Turns<T> {
  const all = builds.map((build) => ({
    build,
    rounds: [] as T[],
    title: (row: string) => (builds.length === 1 ? row : `${row}, ${build.name}`),
  }));
  const [own, beside] = all;
  if (!own) throw new Error('there is a build to measure');
  let taken = roundsBefore;
  return {
    async take(measure) {
      const order = taken++ % 2 === 0 ? all : all.toReversed();
      for (const { build, rounds } of order) rounds.push(await measure(build));
    },
    all,
    own: own.rounds,
    compare(row, read, target) {
      if (!beside) return [];
      const rounds = own.rounds.map((round, index) => {
        const other = beside.rounds[index];
        return { measured: read(round), floor: other === undefined ? NaN : read(other) };
      });
      return [{ row, rounds, target }];
    },
  };
}
