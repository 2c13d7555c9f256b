package io.verbena.compute.memory;

import io.verbena.compute.MemoryRig;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.table.directory.Subtable;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class IndexReturnsTest
{
    private static final long SECOND_NS = 1_000_000_000;
    private static final long LONGEST_PAUSE_NS = 160_000_000;
    private static final ChunkLease LEASE =
        new ChunkLease(MemoryRig.CHUNK_BYTES, 7, List.of(new ChunkRun(MemoryRig.offset(0), 1)));

    private final MemoryRig rig = new MemoryRig();

    IndexReturnsTest()
    {
        rig.reach();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldAskAMemoryNodeThatCannotAnswerAFewTimesASecond()
    {
        rig.refuse("returnChunks", ControlStatus.UNAVAILABLE);
        rig.returns.addLeased("users", MemoryRig.MEMORY_NODE, LEASE);
        rig.meta.runFor(SECOND_NS);
        assertThat(rig.count("returnChunks")).as("in one second").isBetween(8L, 24L);
        assertThat(rig.returns.has(MemoryRig.MEMORY_NODE)).isTrue();

        rig.answer("returnChunks", (arguments) -> null);
        rig.meta.runFor(LONGEST_PAUSE_NS + SECOND_NS / 100);
        assertThat(rig.returns.isEmpty()).isTrue();
    }

    @Test
    void shouldLeaveToSweepsWhatIsRefused()
    {
        rig.refuse("returnChunks", ControlStatus.INVALID_REQUEST);
        rig.returns.addLeased("users", MemoryRig.MEMORY_NODE, LEASE);
        rig.meta.runUntil(rig.returns::isEmpty);
        assertThat(rig.count("returnChunks")).isEqualTo(1);
    }

    @Test
    void shouldReturnWhatOthersMayUseOnlyWhenAllHavePassedItsEpoch()
    {
        rig.answer("returnChunks", (arguments) -> null);
        rig.returns.addUsed("users", List.of(new Subtable(MemoryRig.MEMORY_NODE, 0, 0, MemoryRig.offset(1))),
            (memoryNodeId) -> 7, rig.engine.epoch());
        rig.meta.runFor(SECOND_NS);
        assertThat(rig.count("returnChunks")).isZero();
        assertThat(rig.returns.wantsEpochs(rig.engine)).isTrue();
        rig.pass(4);
        rig.meta.runUntil(rig.returns::isEmpty);
        assertThat(rig.count("returnChunks")).isEqualTo(1);
    }

    @Test
    void shouldReturnWhatALeaseBroughtWhoseAnswerWasLost()
    {
        rig.answer("leaseChunks", (arguments) -> LEASE);
        rig.answer("returnChunks", (arguments) ->
        {
            assertThat(arguments[1]).isEqualTo(LEASE.runs());
            assertThat(arguments[2]).isEqualTo(LEASE.newestLease());
            return null;
        });
        rig.returns.addRequest("users", MemoryRig.MEMORY_NODE, rig.parts.numbers().begin(), 1);
        rig.meta.runUntil(rig.returns::isEmpty);
        assertThat(rig.count("leaseChunks")).isEqualTo(1);
        assertThat(rig.count("returnChunks")).isEqualTo(1);
    }
}
