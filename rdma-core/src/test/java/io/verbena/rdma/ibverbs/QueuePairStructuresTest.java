package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

class QueuePairStructuresTest
{
    private static final int IBV_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2;

    private static MemorySegment structure(final Arena arena, final QueuePairAttributes attributes)
    {
        return QueuePairStructures.attributes(arena, null, attributes);
    }

    private static byte asksForEvent(final MemorySegment structure)
    {
        return structure.get(JAVA_BYTE, VerbsLayouts.offset(VerbsLayouts.IBV_QP_ATTR, "en_sqd_async_notify"));
    }

    @Test
    void shouldAskToBeToldWhenSendQueueIsDrainedAndOnlyThen()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final QueuePairAttributes drained = new QueuePairAttributes().state(QueuePairState.SQD);
            assertThat(QueuePairStructures.mask(drained))
                .isEqualTo(QueuePairAttributes.STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
            assertThat(asksForEvent(structure(arena, drained))).isEqualTo((byte)1);
            final QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(7);
            assertThat(QueuePairStructures.mask(ready)).isEqualTo(ready.mask());
            assertThat(asksForEvent(structure(arena, ready))).isZero();
        }
    }

    @Test
    void shouldPutAttributesWhereTheStructureHasThem()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment structure = structure(
                arena, new QueuePairAttributes().state(QueuePairState.RTR).rqPsn(5).pathMtuBytes(1024).minRnrTimer(9));
            assertThat(structure.get(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.IBV_QP_ATTR, "rq_psn"))).isEqualTo(5);
            assertThat(structure.get(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.IBV_QP_ATTR, "path_mtu"))).isEqualTo(3);
            assertThat(structure.get(JAVA_BYTE, VerbsLayouts.offset(VerbsLayouts.IBV_QP_ATTR, "min_rnr_timer")))
                .isEqualTo((byte)9);
        }
    }
}
