package io.verbena.compute.growth;

import io.verbena.compute.MemoryRig;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class IndexLeaseTest
{
    private static final long SECOND_NS = 1_000_000_000;
    private static final long LONGEST_PAUSE_NS = 160_000_000;

    private final MemoryRig rig = new MemoryRig();
    private final Set<Object> requests = new HashSet<>();
    private final IndexLease lease;

    IndexLeaseTest()
    {
        rig.reach();
        lease = new IndexLease(rig.chunks);
        lease.begin(rig.parts, "users", MemoryRig.MEMORY_NODE, 2);
        rig.meta.run(lease::poll);
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private ChunkLease leased(final Object[] arguments)
    {
        requests.add(arguments[1]);
        return new ChunkLease(MemoryRig.CHUNK_BYTES, 7, List.of(new ChunkRun(MemoryRig.offset(0), (int)arguments[3])));
    }

    @Test
    void shouldAskAMemoryNodeThatCannotAnswerAFewTimesASecond()
    {
        rig.refuse("leaseChunks", ControlStatus.UNAVAILABLE);
        rig.meta.runFor(SECOND_NS);
        assertThat(rig.count("leaseChunks")).as("in one second").isBetween(8L, 24L);
        rig.answer("leaseChunks", this::leased);
        rig.meta.runFor(LONGEST_PAUSE_NS + SECOND_NS / 100);
        assertThat(lease.outcome()).isEqualTo(IndexLease.Outcome.LEASED);
        assertThat(lease.offsets()).containsExactly(MemoryRig.offset(0), MemoryRig.offset(1));
        assertThat(requests).as("the same request, which brings the same chunks").containsExactly(1L);
    }
}
