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

/** The sweep of the index chunks of one memory node, as its link runs it. */
class IndexSweepTest
{
    private static final long A_WHILE_NS = 50_000_000;

    private final MemoryRig rig = new MemoryRig();
    private final List<Object> returned = new ArrayList<>();
    private final List<Object> leases = new ArrayList<>();

    IndexSweepTest()
    {
        rig.answer("returnChunks", (arguments) ->
        {
            returned.add(arguments[1]);
            leases.add(arguments[2]);
            return null;
        });
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private static List<ChunkRun> chunk(final int index)
    {
        return List.of(new ChunkRun(MemoryRig.offset(index), 1));
    }

    @Test
    void shouldReturnAnIndexOfNobodyByItsOwnLeaseWhenNobodyWorksThere()
    {
        rig.chunk(1, ChunkDescriptor.STATE_INDEX, 0, 5);
        rig.reach();
        rig.meta.runFor(A_WHILE_NS);
        rig.pass(4);
        rig.meta.runFor(A_WHILE_NS);
        assertThat(returned).as("operations may be repeated there for two epochs more").isEmpty();
        rig.pass(2);
        rig.meta.runUntil(() -> !returned.isEmpty());
        assertThat(returned).containsExactly(chunk(1));
        assertThat(leases).as("not the newest of all chunks").containsExactly(2L);
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.parts.counters().returnedIndexChunks).isEqualTo(1);
    }

    @Test
    void shouldLeaveAloneWhatARequestUnderWayHasLeased()
    {
        final int own = MetaRig.REGISTRATION.nodeId();
        final long underWay = rig.parts.numbers().begin();
        rig.chunk(0, ChunkDescriptor.STATE_INDEX, own, underWay);
        rig.chunk(2, ChunkDescriptor.STATE_INDEX, own, underWay + 1);
        rig.reach();
        rig.pass(1);
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.meta.count("tables")).as("nobody has asked").isZero();
        rig.link().maintenance().sweepIndexes();
        rig.pass(1);
        rig.meta.runUntil(() -> 1 == rig.meta.count("tables"));
        rig.meta.runFor(A_WHILE_NS);
        rig.pass(6);
        rig.meta.runUntil(() -> !returned.isEmpty());
        assertThat(returned).containsExactly(chunk(2));
    }

    @Test
    void shouldReturnAgainSomeEpochsLaterWhatWasNotAnswered()
    {
        rig.chunk(1, ChunkDescriptor.STATE_INDEX, 0, 5);
        rig.refuse("returnChunks", ControlStatus.UNAVAILABLE);
        rig.reach();
        rig.meta.runFor(A_WHILE_NS);
        rig.pass(6);
        rig.meta.runUntil(() -> 1 == rig.count("returnChunks"));
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.count("returnChunks")).as("not at once").isEqualTo(1);
        assertThat(rig.link().maintenance().isReclaiming()).as("it wants epochs").isTrue();
        rig.answer("returnChunks", (arguments) -> null);
        rig.pass(6);
        rig.meta.runUntil(() -> 1 == rig.parts.counters().returnedIndexChunks);
    }

    @Test
    void shouldTryAgainSomeEpochsLaterWhileThereIsATableOfAnotherVersion()
    {
        rig.meta.answer("tables", (arguments) -> new TablePage(List.of("newer"), false));
        rig.meta.answer("table", (arguments) -> new TableEntry("newer", 1, new byte[64]));
        rig.chunk(1, ChunkDescriptor.STATE_INDEX, 0, 5);
        rig.reach();
        rig.meta.runUntil(() -> 1 == rig.meta.count("table"));
        rig.meta.runFor(A_WHILE_NS);
        rig.pass(15);
        rig.meta.runFor(A_WHILE_NS);
        assertThat(rig.meta.count("table")).isEqualTo(1);
        rig.pass(1);
        rig.meta.runUntil(() -> 2 == rig.meta.count("table"));
        assertThat(returned).isEmpty();
    }
}
