package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/** What a responder learns of requests that it refused, beside what its completions tell. */
abstract class AsyncEventContract extends VerbsHarness
{
    private void assertRefusedWith(final Runnable request, final int status, final AsyncEventType type)
    {
        assertThat(execute(request).status()).isEqualTo(status);
        assertThat(awaitEvent(b.device, type).source()).isEqualTo(b.queuePair);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(events(a.device)).extracting(AsyncEvent::type)
            .doesNotContain(AsyncEventType.QP_ACCESS_ERR, AsyncEventType.QP_REQ_ERR);
    }

    @Test
    void shouldRaiseAccessEventWhenRemoteKeyIsUnknown()
    {
        connect();
        assertRefusedWith(
            () -> a.queuePair.read(1, SIGNALED, a.address(0), 8, a.key(), b.address(0), b.region.remoteKey() + 1),
            WorkCompletionStatus.REM_ACCESS_ERR, AsyncEventType.QP_ACCESS_ERR);
    }

    @Test
    void shouldRaiseAccessEventWhenBoundsAreExceeded()
    {
        connect();
        assertRefusedWith(write(1, SIGNALED, 0, 16, Endpoint.REGION_BYTES - 8),
            WorkCompletionStatus.REM_ACCESS_ERR, AsyncEventType.QP_ACCESS_ERR);
    }

    @Test
    void shouldRaiseAccessEventWhenRegionLacksRight()
    {
        connect();
        final var region = own(b.domain.allocateRegistered(4096, AccessFlags.REMOTE_READ));
        assertRefusedWith(
            () -> a.queuePair.write(1, SIGNALED, a.address(0), 8, a.key(), region.address(), region.remoteKey()),
            WorkCompletionStatus.REM_ACCESS_ERR, AsyncEventType.QP_ACCESS_ERR);
    }

    @Test
    void shouldRaiseRequestEventWhenQueuePairLacksRight()
    {
        connect(a, b, AccessFlags.REMOTE_READ);
        assertRefusedWith(write(1, SIGNALED, 0, 8, 0),
            WorkCompletionStatus.REM_INV_REQ_ERR, AsyncEventType.QP_REQ_ERR);
    }

    @Test
    void shouldRaiseRequestEventWhenAtomicIsNotAligned()
    {
        connect();
        assertRefusedWith(fetchAdd(1, SIGNALED, 0, 4, 1),
            WorkCompletionStatus.REM_INV_REQ_ERR, AsyncEventType.QP_REQ_ERR);
    }

    @Test
    void shouldRaiseNoEventWhenNothingIsWrong()
    {
        connect();
        receive(1, 0, 8);
        post(a, write(2, 0, 0, 8, 0), read(3, 0, 0, 8, 0), send(4, SIGNALED, 0, 8));
        awaitOne(a);
        awaitOne(b);
        assertThat(events(a.device)).isEmpty();
        assertThat(events(b.device)).isEmpty();
    }

    @Test
    void shouldRaiseCompletionQueueEventWhenItOverruns()
    {
        b.close();
        disown(b);
        b = own(new Endpoint(rig.responder(), AccessFlags.ALL_REMOTE, 2, Endpoint.CAPABILITIES));
        connect();
        for (int i = 0; i < b.completions.capacity() + 1; i++)
        {
            receive(i, 0, 8);
            post(a, send(i, 0, 0, 8));
        }
        assertThat(awaitEvent(b.device, AsyncEventType.CQ_ERR).source()).isEqualTo(b.completions);
        awaitState(b.queuePair, QueuePairState.ERR);
    }
}
