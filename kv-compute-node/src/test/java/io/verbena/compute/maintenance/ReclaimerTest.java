package io.verbena.compute.maintenance;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.MetaRig;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.table.format.ChunkDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The reclaimer of one memory node, as its link runs it; what epochs pass and what is answered, each test says. */
class ReclaimerTest
{
    private static final long A_WHILE_NS = 50_000_000;
    private static final List<ChunkRun> FIRST_CHUNK = List.of(new ChunkRun(MemoryRig.offset(0), 1));

    private final MemoryRig rig = new MemoryRig();
    private final List<Object> returned = new ArrayList<>();

    ReclaimerTest()
    {
        rig.answer("claimChunks", (arguments) -> arguments[1]);
        rig.answer("returnChunks", (arguments) ->
        {
            returned.add(arguments[1]);
            rig.chunk(0, ChunkDescriptor.STATE_FREE, 0, 0);
            return null;
        });
        rig.chunk(0, ChunkDescriptor.STATE_ORPHAN, MemoryRig.ENDED_NODE, 0);
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    /** On a new connection it begins with headers that were read in a new epoch. */
    private void begin()
    {
        rig.reach();
        rig.pass(1);
    }

    private void beginAndClaim()
    {
        begin();
        rig.meta.runUntil(() -> 1 == rig.count("claimChunks"));
        rig.meta.runFor(A_WHILE_NS);
    }

    private boolean isReclaiming()
    {
        return rig.link().maintenance().isReclaiming();
    }

    @Test
    void shouldListTheTablesOnlyWhenEveryNodeHasLetGoOfTheClaimedChunks()
    {
        beginAndClaim();
        rig.passNothing();
        rig.passNothing();
        rig.passNothing();
        rig.passNothing();
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.meta.count("tables")).as("some node has not let go").isZero();
        rig.pass(4);
        rig.meta.runUntil(() -> 1 == rig.meta.count("tables"));
        rig.meta.runFor(A_WHILE_NS);
        assertThat(returned).as("others may know tables that are not listed any more").isEmpty();
    }

    @Test
    void shouldReturnAChunkWithoutRecordsWhenNobodyCanHoldAWordOfIt()
    {
        beginAndClaim();
        rig.pass(4);
        rig.meta.runUntil(() -> 1 == rig.meta.count("tables"));
        rig.meta.runFor(A_WHILE_NS);
        rig.pass(4);
        rig.meta.runFor(A_WHILE_NS);
        assertThat(returned).as("it was scanned in this epoch").isEmpty();
        rig.pass(4);
        rig.meta.runUntil(() -> !returned.isEmpty());
        assertThat(returned).containsExactly(FIRST_CHUNK);
        assertThat(rig.parts.counters().returnedChunks).isEqualTo(1);
        rig.meta.runFor(A_WHILE_NS);
        rig.pass(1);
        rig.meta.runUntil(() -> !isReclaiming());
        rig.pass(8);
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.count("claimChunks")).as("nothing is left").isEqualTo(1);
    }

    @Test
    void shouldClaimAgainInTheNextEpochWhatWasNotAnswered()
    {
        rig.refuse("claimChunks", ControlStatus.UNAVAILABLE);
        beginAndClaim();
        assertThat(rig.count("claimChunks")).as("not before the headers were read again").isEqualTo(1);
        assertThat(isReclaiming()).as("it wants epochs").isTrue();
        rig.pass(1);
        rig.meta.runUntil(() -> 2 == rig.count("claimChunks"));
    }

    @Test
    void shouldListAgainWhenATableWasDroppedMeanwhile()
    {
        beginAndClaim();
        rig.meta.answer("tables", (arguments) ->
        {
            if (1 == rig.meta.count("tables"))
            {
                rig.newVersion();
            }
            return new TablePage(List.of(), false);
        });
        rig.pass(4);
        rig.meta.runUntil(() -> 2 == rig.meta.count("tables"));
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.meta.count("tables")).isEqualTo(2);
    }

    @Test
    void shouldWaitLongWhileThereIsATableOfAnotherVersion()
    {
        rig.meta.answer("tables", (arguments) -> new TablePage(List.of("newer"), false));
        rig.meta.answer("table", (arguments) -> new TableEntry("newer", 1, new byte[64]));
        beginAndClaim();
        rig.pass(4);
        rig.meta.runUntil(() -> 1 == rig.meta.count("table"));
        rig.meta.runFor(A_WHILE_NS);
        rig.pass(60);
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.count("claimChunks")).as("the table is still there, most likely").isEqualTo(1);
        rig.chunk(1, ChunkDescriptor.STATE_ORPHAN, MemoryRig.ENDED_NODE, 0);
        rig.pass(8);
        rig.meta.runUntil(() -> 2 == rig.count("claimChunks"));
        assertThat(rig.meta.count("table")).isEqualTo(1);
    }

    @Test
    void shouldSweepItsOwnChunksWhenAskedAndLeaveHalfOfThemInUse()
    {
        rig.chunk(0, ChunkDescriptor.STATE_BLOCKS, MetaRig.REGISTRATION.nodeId(), 0);
        rig.chunk(1, ChunkDescriptor.STATE_BLOCKS, MetaRig.REGISTRATION.nodeId(), 0);
        rig.chunk(2, ChunkDescriptor.STATE_BLOCKS, MemoryRig.ENDED_NODE + 1, 0);
        final List<Object> claimed = new ArrayList<>();
        rig.answer("claimChunks", (arguments) ->
        {
            claimed.add(arguments[1]);
            return List.of();
        });
        begin();
        rig.meta.runFor(A_WHILE_NS);
        assertThat(claimed).as("nobody has asked").isEmpty();
        rig.link().maintenance().sweepOwn();
        assertThat(rig.link().maintenance().isSweeping()).isTrue();
        rig.meta.runFor(A_WHILE_NS);
        assertThat(claimed).as("the headers may not show all of them yet").isEmpty();
        rig.pass(1);
        rig.meta.runUntil(() -> 1 == claimed.size());
        rig.meta.runFor(A_WHILE_NS);
        assertThat(claimed).containsExactly(FIRST_CHUNK);
        rig.pass(1);
        rig.meta.runUntil(() -> 2 == claimed.size());
        rig.meta.runFor(A_WHILE_NS);
        assertThat(claimed.getLast()).as("the other half").isEqualTo(List.of(new ChunkRun(MemoryRig.offset(1), 1)));
        rig.pass(1);
        rig.meta.runUntil(() -> !rig.link().maintenance().isSweeping());
    }

    @Test
    void shouldBeginAnewOnANewConnection()
    {
        beginAndClaim();
        rig.stop();
        rig.pass(1);
        rig.meta.runUntil(() -> !rig.link().isReady());
        assertThat(isReclaiming()).isFalse();
        rig.start();
        rig.chunk(0, ChunkDescriptor.STATE_ORPHAN, MemoryRig.ENDED_NODE, 0);
        rig.register();
        rig.meta.runUntil(() -> rig.link().isReady() && rig.link().maintenance().isConnected());
        rig.pass(1);
        rig.meta.runUntil(() -> 2 == rig.count("claimChunks"));
    }
}
