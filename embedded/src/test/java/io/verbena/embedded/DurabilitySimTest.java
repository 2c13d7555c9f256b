package io.verbena.embedded;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What outlives what. A memory node whose process ends at any moment has its region again, with all that was
 * acknowledged; one whose host ends has what its last checkpoint holds, each key as it was at some moment since that
 * began. The meta server knows what it knew.
 */
class DurabilitySimTest
{
    /** Disk steps of a first life, until the node is ready: two files of five steps. */
    private static final int FIRST_STEPS = 10;
    /** In which a node writes down as which incarnation it has joined. */
    private static final int STEPS_OF_A_FILE = 5;

    /** Seeds 1 to 5, or as many as the system property verbena.sim.seeds says, for a longer search. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 5));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldLoseNothingAcknowledgedWhenProcessesEndAtAnyMoment(final long seed)
    {
        DurabilityRun.adoption(seed, Flaw.NONE);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreEachKeyAsItWasSinceTheCheckpointBegan(final long seed)
    {
        DurabilityRun.restoration(seed, Flaw.NONE);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreATableThatGrows(final long seed)
    {
        DurabilityRun.growing(seed, Flaw.NONE);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreATableThatShrinks(final long seed)
    {
        DurabilityRun.shrinking(seed, Flaw.NONE);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreATableThatHasGrownWhereverItsCheckpointEnds(final long seed)
    {
        DurabilityRun.growingCutShort(seed, Flaw.NONE);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreATableWhoseSplittersEndAndOneInLittleMemory(final long seed)
    {
        DurabilityRun.growingWhileSplittersEnd(seed, Flaw.NONE);
        DurabilityRun.growingInLittleMemory(seed, Flaw.NONE);
    }

    /** No put is told that the table is full while chunks are on their way back. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldWaitForChunksThatComeBackWhenSplittersEnd(final long seed)
    {
        DurabilityRun.growingWhileSplittersEndInLittleMemory(seed, Flaw.NONE);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreATableWhoseMergersEnd(final long seed)
    {
        DurabilityRun.shrinkingWhileMergersEnd(seed, Flaw.NONE);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreAfterCheckpointsThatWereCutShort(final long seed)
    {
        DurabilityRun.cutShortAndWhole(seed, Flaw.NONE);
    }

    @Test
    void shouldLetNothingLandOfWhoWasFencedWhileTheNodeWasAway()
    {
        DurabilityRun.late(1, Flaw.NONE);
        DurabilityRun.away(1, Flaw.NONE);
    }

    @Test
    void shouldBeTheSameNodeWhenItsFirstLifeEndsAtAnyStepOfTheDisk()
    {
        for (int steps = 1; steps <= FIRST_STEPS; steps++)
        {
            firstLife(steps, Flaw.NONE);
        }
    }

    /** It has no checkpoint: what it does not find again is lost. */
    @Test
    void shouldFindItsMemoryAgainWhenItsNextLifeEndsAtAnyStepOfTheDisk()
    {
        for (int steps = 1; steps <= STEPS_OF_A_FILE; steps++)
        {
            secondLife(steps, Flaw.NONE);
        }
    }

    @Test
    void shouldRestoreNoCheckpointThatWasNeverComplete()
    {
        int restored = 0;
        for (int steps = 1; steps <= 18; steps++)
        {
            restored += firstCheckpoint(steps, Flaw.NONE);
        }
        assertThat(restored).as("complete before the end, of 18").isBetween(1, 17);
    }

    @Test
    void shouldRestoreWhateverStepACheckpointEndsAt()
    {
        for (int steps = 1; steps <= 16; steps++)
        {
            DurabilityRun.cutShort(steps, Flaw.NONE);
        }
    }

    @Test
    void shouldTakeNoBlockIntoACheckpointWhileItIsWritten()
    {
        DurabilityRun.torn(Flaw.NONE);
    }

    @Test
    void shouldRefuseMemoryThatIsDamaged()
    {
        assertThat(damaged(Flaw.NONE)).contains("the memory that it found again is damaged");
    }

    /** A new node ends after so many steps of its disk; its next process must join. */
    static void firstLife(final int steps, final Flaw flaw)
    {
        try (SimCluster cluster =
            SimCluster.durable(steps, new SimFabricOptions(), 0, 0, flaw))
        {
            final SimMemoryHost host = cluster.newMemoryHost("memory-1", flaw);
            host.killInDiskSteps(steps);
            host.start();
            cluster.world().runUntil(() -> host.isDead() || host.isReady(), DurabilityRun.MAX_STEPS);
            assertThat(host.isDead()).as("it ended at step %d", steps).isTrue();
            host.start();
            cluster.world().runUntil(host::isReady, DurabilityRun.MAX_STEPS);
            assertThat(host.node().nodeId()).as("one memory has one id").isEqualTo(1);
        }
    }

    /**
     * A node with a table and no checkpoint ends, and its next process after so many steps of its disk; the one behind
     * that must find the memory.
     */
    static void secondLife(final int steps, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(steps, 1, 1, flaw))
        {
            run.cluster().runFor(3_000_000);
            run.host().killProcess();
            run.host().killInDiskSteps(steps);
            run.host().start();
            run.cluster().world().runUntil(
                () -> run.host().isDead() || run.host().isReady(), DurabilityRun.MAX_STEPS);
            assertThat(run.host().isDead()).as("it ended at step %d", steps).isTrue();
            run.host().start();
            run.cluster().world().runUntil(run.host()::isReady, DurabilityRun.MAX_STEPS);
        }
    }

    /** @return 1 if it was restored and is right, 0 if the node says that there is nothing. */
    static int firstCheckpoint(final int steps, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(steps, 1, 1, flaw))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            run.cluster().runFor(3_000_000);
            rounds.checkpoint(steps);
            rounds.loseHost();
            run.host().start();
            run.finish();
            return rounds.restorations();
        }
        catch (final SimFailureException ex)
        {
            assertThat(ex).hasMessageContaining("memory of node 1 is gone, and with it records of tables");
            return 0;
        }
    }

    /** @return what the node says of memory in which a word names what is free; empty when it says nothing. */
    static String damaged(final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(1, 1, 1, flaw))
        {
            run.cluster().runFor(3_000_000);
            run.host().killProcess();
            run.host().damage(run.cluster().tables().getFirst());
            run.host().start();
            run.cluster().world().runUntil(run.host()::isReady, DurabilityRun.MAX_STEPS);
            return "";
        }
        catch (final SimFailureException ex)
        {
            return ex.getMessage();
        }
    }
}
