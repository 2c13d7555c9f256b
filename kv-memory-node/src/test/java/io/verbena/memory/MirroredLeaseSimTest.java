package io.verbena.memory;

import io.verbena.test.Mutation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Leases that all members of a group record. {@code -Dverbena.memory.mirrorSeeds=N} for more seeds. */
class MirroredLeaseSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.memory.mirrorSeeds", 10);

    @Test
    void shouldGiveNoChunkToTwoNodesAndLoseNone()
    {
        int leased = 0;
        int failed = 0;
        int settled = 0;
        int reclaimed = 0;
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            try (MirroredLeaseRun run = new MirroredLeaseRun(seed))
            {
                assertThat(run.run()).as("seed %d", seed).isNull();
                leased += run.actors.stream().mapToInt((actor) -> actor.leased).sum();
                failed += run.actors.stream().mapToInt((actor) -> actor.failed).sum();
                settled += run.actors.stream().mapToInt((actor) -> actor.settled).sum();
                reclaimed += run.actors.stream().mapToInt((actor) -> actor.reclaimed).sum();
            }
        }
        System.out.println("mirrored leases: seeds=" + SEEDS + " leased=" + leased + " failed=" + failed +
            " settled=" + settled + " reclaimed=" + reclaimed);
        assertThat(settled).isPositive();
        assertThat(reclaimed).isPositive();
    }

    @Test
    void shouldUseWhatAnotherNodeHasWhenNotAllHaveRecordedIt()
    {
        assertThat(violation(MirrorLeaseMutation.RECORDED_BY_ALL)).contains(" is used by ");
    }

    @Test
    void shouldHaveTwoUsersWhenALeaseIsRecordedOverAnother()
    {
        assertThat(violation(MirrorLeaseMutation.FREE_ON_ALL)).contains(" is used by ");
    }

    /** What the first seed shows that shows anything, which shows nothing without the mutation. */
    private static String violation(final MirrorLeaseMutation mutation)
    {
        String found = null;
        long seed = 0;
        try (Mutation.Opened _ = mutation.open())
        {
            while (null == found && ++seed <= SEEDS)
            {
                found = run(seed);
            }
        }
        assertThat(found).as("%s in %d seeds", mutation, SEEDS).isNotNull();
        assertThat(run(seed)).as("not mutated, seed %d", seed).isNull();
        return found;
    }

    private static String run(final long seed)
    {
        try (MirroredLeaseRun run = new MirroredLeaseRun(seed))
        {
            return run.run();
        }
    }
}
