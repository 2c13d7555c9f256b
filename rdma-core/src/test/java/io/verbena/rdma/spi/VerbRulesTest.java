package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The small tables, each value written out. */
class VerbRulesTest
{
    private static Set<String> kinds(final QueuePairType type)
    {
        final Set<String> kinds = new TreeSet<>();
        for (int kind = 0; kind < OperationRules.KINDS; kind++)
        {
            if (OperationRules.allows(type, kind))
            {
                kinds.add(OperationRules.name(kind));
                assertThat(OperationRules.refusal(type, kind, SendFlags.SIGNALED)).isNull();
            }
            else
            {
                assertThat(OperationRules.refusal(type, kind, 0)).contains("no such operation");
            }
        }
        return kinds;
    }

    @Test
    void shouldAllowEachTypeItsOperationsAndNoOther()
    {
        assertThat(kinds(QueuePairType.UD)).containsExactly("SEND");
        assertThat(kinds(QueuePairType.UC)).containsExactly(
            "BIND_MW", "LOCAL_INV", "SEND", "SEND_WITH_INV", "WRITE", "WRITE_WITH_IMM");
        assertThat(kinds(QueuePairType.RC)).containsExactly(
            "BIND_MW", "CMP_SWAP", "FETCH_ADD", "LOCAL_INV", "READ", "SEND", "SEND_WITH_INV", "WRITE",
            "WRITE_WITH_IMM");
        assertThat(kinds(QueuePairType.DC_INITIATOR)).containsExactly(
            "CMP_SWAP", "FETCH_ADD", "READ", "SEND", "WRITE", "WRITE_WITH_IMM");
    }

    @Test
    void shouldAllowFenceOnReliableTypesOnly()
    {
        for (final QueuePairType type : QueuePairType.values())
        {
            final boolean isReliable = type == QueuePairType.RC || type == QueuePairType.DC_INITIATOR;
            assertThat(OperationRules.refusal(type, WorkRequest.SEND, SendFlags.FENCE) == null).isEqualTo(isReliable);
        }
    }

    @Test
    void shouldAllowSolicitedAndInlineOnlyWhereTheyMeanSomething()
    {
        final Set<String> solicited = new TreeSet<>();
        final Set<String> inline = new TreeSet<>();
        for (int kind = 0; kind < OperationRules.KINDS; kind++)
        {
            if (OperationRules.refusal(QueuePairType.RC, kind, SendFlags.SOLICITED) == null)
            {
                solicited.add(OperationRules.name(kind));
            }
            if (OperationRules.refusal(QueuePairType.RC, kind, SendFlags.INLINE) == null)
            {
                inline.add(OperationRules.name(kind));
            }
            assertThat(OperationRules.refusal(QueuePairType.RC, kind, 1 << 9)).contains("unknown");
        }
        assertThat(solicited).containsExactly("SEND", "SEND_WITH_INV", "WRITE_WITH_IMM");
        assertThat(inline).containsExactly("SEND", "SEND_WITH_INV", "WRITE", "WRITE_WITH_IMM");
    }

    @Test
    void shouldNumberStatusesAsTheHeaderOfLibibverbs()
    {
        assertThat(new int[]{
            WorkCompletionStatus.SUCCESS, WorkCompletionStatus.LOC_LEN_ERR, WorkCompletionStatus.LOC_QP_OP_ERR,
            WorkCompletionStatus.LOC_PROT_ERR, WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionStatus.MW_BIND_ERR,
            WorkCompletionStatus.LOC_ACCESS_ERR, WorkCompletionStatus.REM_INV_REQ_ERR,
            WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.REM_OP_ERR, WorkCompletionStatus.RETRY_EXC_ERR,
            WorkCompletionStatus.RNR_RETRY_EXC_ERR})
            .containsExactly(0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13);
    }

    @Test
    void shouldKnowRnrTimersOfTheSpecification()
    {
        final double[] expectedMs = {
            655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56,
            3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52 };
        for (int code = 0; code < expectedMs.length; code++)
        {
            assertThat(RetryTimers.rnrWaitNs(code)).isEqualTo(Math.round(expectedMs[code] * 1_000_000));
        }
    }

    @Test
    void shouldKnowAcknowledgementTimes()
    {
        assertThat(RetryTimers.ackTimeoutNs(0)).isEqualTo(RetryTimers.NEVER_NS);
        assertThat(RetryTimers.ackTimeoutNs(1)).isEqualTo(8_192);
        assertThat(RetryTimers.ackTimeoutNs(31)).isEqualTo(4_096L << 31);
        assertThat(RetryTimers.retryTimeNs(14, 7)).isEqualTo((4_096L << 14) * 8);
        assertThat(RetryTimers.retryTimeNs(14, 0)).isEqualTo(4_096L << 14);
        assertThat(RetryTimers.retryTimeNs(0, 3)).isEqualTo(RetryTimers.NEVER_NS);
    }

    @Test
    void shouldRefuseAsInvalidRequestWhatTheQueuePairDoesNotGive()
    {
        final int all = AccessFlags.ALL_REMOTE;
        for (int operation = WorkRequest.SEND; operation <= WorkRequest.FETCH_ADD; operation++)
        {
            final int right = OperationRules.neededRight(operation);
            assertThat(AccessChecks.queuePairStatus(operation, all, 64, 1)).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(AccessChecks.queuePairStatus(operation, all & ~right, 64, 1)).isEqualTo(
                right == 0 ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.REM_INV_REQ_ERR);
            assertThat(AccessChecks.queuePairStatus(operation, all, 68, 1)).isEqualTo(
                right == AccessFlags.REMOTE_ATOMIC ? WorkCompletionStatus.REM_INV_REQ_ERR : 0);
            assertThat(AccessChecks.queuePairStatus(operation, all, 64, 0)).isEqualTo(
                operation >= WorkRequest.READ ? WorkCompletionStatus.REM_INV_REQ_ERR : 0);
        }
    }

    @Test
    void shouldTellSenderAndResponderWhatFailed()
    {
        assertThat(AccessChecks.requesterStatus(WorkCompletionStatus.SUCCESS)).isZero();
        assertThat(AccessChecks.requesterStatus(WorkCompletionStatus.LOC_LEN_ERR))
            .isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(AccessChecks.requesterStatus(WorkCompletionStatus.LOC_PROT_ERR))
            .isEqualTo(WorkCompletionStatus.REM_OP_ERR);
        assertThat(AccessChecks.requesterStatus(WorkCompletionStatus.LOC_ACCESS_ERR))
            .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(AccessChecks.responderEvent(WorkCompletionStatus.REM_ACCESS_ERR))
            .isEqualTo(AsyncEventType.QP_ACCESS_ERR);
        assertThat(AccessChecks.responderEvent(WorkCompletionStatus.REM_INV_REQ_ERR))
            .isEqualTo(AsyncEventType.QP_REQ_ERR);
        assertThat(AccessChecks.responderEvent(WorkCompletionStatus.REM_OP_ERR)).isNull();
        assertThat(AccessChecks.failsIntoSqe(QueuePairType.UD)).isTrue();
        assertThat(AccessChecks.failsIntoSqe(QueuePairType.DC_INITIATOR)).isFalse();
        assertThat(AccessChecks.answersRefusals(QueuePairType.UC)).isFalse();
    }

    @Test
    void shouldNotifyOnceAndForSolicitedOnlyWhenAskedSo()
    {
        final NotificationArm arm = new NotificationArm();
        assertThat(arm.fires(true)).isFalse();
        arm.arm(false);
        assertThat(arm.fires(false)).isTrue();
        assertThat(arm.fires(true)).isFalse();
        arm.arm(true);
        assertThat(arm.fires(false)).isFalse();
        assertThat(arm.fires(true)).isTrue();
        arm.arm(false);
        arm.arm(true);
        assertThat(arm.fires(false)).isTrue();
    }

    @Test
    void shouldReachLimitOnceUntilArmedAgain()
    {
        final ReceiveLimit limit = new ReceiveLimit();
        assertThat(limit.isReached(0)).isFalse();
        assertThat(limit.arm(3, 8, 5)).isFalse();
        assertThat(limit.isReached(3)).isFalse();
        assertThat(limit.armed()).isEqualTo(3);
        assertThat(limit.isReached(2)).isTrue();
        assertThat(limit.armed()).isZero();
        assertThat(limit.isReached(1)).isFalse();
        assertThat(limit.arm(3, 8, 2)).isTrue();
        assertThatThrownBy(() -> limit.arm(9, 8, 8)).isInstanceOf(RdmaException.class).hasMessageContaining("9");
        assertThatThrownBy(() -> limit.arm(-1, 8, 8)).isInstanceOf(RdmaException.class);
    }

    @Test
    void shouldKeepNewestEventsWhenNobodyTakesThem()
    {
        final AsyncEventQueue events = new AsyncEventQueue();
        assertThat(events.poll()).isNull();
        for (int i = 0; i < AsyncEventQueue.MAX_EVENTS + 2; i++)
        {
            events.raise(AsyncEventType.COMM_EST, i);
        }
        assertThat(events.lostCount()).isEqualTo(2);
        assertThat(events.poll().source()).isEqualTo(2);
        final Object closed = new Object();
        events.raise(AsyncEventType.QP_FATAL, closed);
        events.forget(closed);
        assertThat(events.poll().type()).isEqualTo(AsyncEventType.COMM_EST);
    }

    @Test
    void shouldWriteRoutingHeaderBigEndian()
    {
        final byte[] bytes = new byte[GlobalRoutingHeader.LENGTH_BYTES];
        GlobalRoutingHeader.write(
            MemorySegment.ofArray(bytes), new DeviceAddress(0xFE80_0000_0000_0000L, 1), new DeviceAddress(2, 3), 5);
        assertThat(bytes[0]).isEqualTo((byte)0x60);
        assertThat(bytes[5]).isEqualTo((byte)(20 + 8 + 4));
        assertThat(bytes[6]).isEqualTo((byte)0x1B);
        assertThat(bytes[8]).isEqualTo((byte)0xFE);
        assertThat(bytes[23]).isEqualTo((byte)1);
        assertThat(bytes[31]).isEqualTo((byte)2);
        assertThat(bytes[39]).isEqualTo((byte)3);
        assertThat(MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_BYTE, 9)).isEqualTo((byte)0x80);
    }
}
