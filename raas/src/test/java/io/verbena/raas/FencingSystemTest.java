package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.PostStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/** A server that fences a node which writes and calls at full speed from another thread. */
class FencingSystemTest
{
    private static final int LIVES = 30;
    private static final int WRITES_BEFORE_FENCE = 2_000;

    @TempDir
    Path directory;
    private final AtomicLong written = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private long calls;
    private long callsEnded;

    @Test
    @Timeout(120)
    void shouldLandNothingAfterTheFence() throws InterruptedException
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            for (int life = 1; life <= LIVES; life++)
            {
                final PeerIdentity identity = new PeerIdentity(3, life);
                final Thread writer = new Thread(() -> run(pair, identity), "writer-" + life);
                final long before = written.get();
                writer.start();
                while (written.get() - before < WRITES_BEFORE_FENCE && writer.isAlive())
                {
                    pair.server.poll();
                }
                assertThat(pair.rpcServer.fence(identity)).isEqualTo(1);
                final long word = pair.servedWord(0);
                pair.servedWord(8, word);
                while (writer.isAlive())
                {
                    pair.server.poll();
                    assertThat(pair.servedWord(0)).isEqualTo(word);
                }
                writer.join();
                assertThat(failure.get()).isNull();
                assertThat(pair.servedWord(0)).isEqualTo(word);
                assertThat(callsEnded).isEqualTo(calls);
            }
        }
    }

    private void run(final SoftPair pair, final PeerIdentity identity)
    {
        try
        {
            pair.client.identity(identity);
            final long[] completed = new long[1];
            final VirtualQp vqp = pair.client.connect(
                pair.peer(), (on, cookie, status) -> completed[0]++, SoftPair.TIMEOUT_NS);
            long posted = 0;
            while (vqp.state() == VirtualQp.State.CONNECTING)
            {
                pair.client.poll();
            }
            while (vqp.state() == VirtualQp.State.READY)
            {
                posted += write(pair, vqp);
                if (posted % 50 == 0)
                {
                    call(pair, vqp);
                }
                pair.client.poll();
            }
            assertThat(vqp.failure()).contains("retry counter exceeded");
            assertThat(completed[0]).isEqualTo(posted);
            while (pair.client.rpcClient().outstandingCalls() > 0)
            {
                pair.client.poll();
            }
            vqp.close();
        }
        catch (final Throwable ex)
        {
            failure.set(ex);
        }
    }

    private int write(final SoftPair pair, final VirtualQp vqp)
    {
        if (vqp.space() == 0)
        {
            return 0;
        }
        // Each write has a source of its own, which stays unchanged while it is in flight.
        final long slot = 64 + written.get() % 512 * Long.BYTES;
        pair.localWord(slot, written.get() + 1);
        vqp.begin();
        vqp.write(pair.local, slot, Long.BYTES, pair.remote(), 0);
        final boolean isPosted = vqp.complete(0) == PostStatus.OK;
        written.addAndGet(isPosted ? 1 : 0);
        return isPosted ? 1 : 0;
    }

    private void call(final SoftPair pair, final VirtualQp vqp)
    {
        final long id = pair.client.rpcClient().call(
            vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
            (callId, status, payload, offset, length) -> callsEnded++);
        calls += id > 0 ? 1 : 0;
    }
}
