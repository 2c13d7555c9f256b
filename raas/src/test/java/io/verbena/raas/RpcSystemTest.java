package io.verbena.raas;

import io.verbena.raas.rpc.RpcStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/** Calls between two threads at full speed with few credits, where a missing receive fails at once. */
class RpcSystemTest
{
    private static final int CALLS = 30_000;

    @TempDir
    Path directory;
    private int ended;
    private int failed;

    @Test
    @Timeout(120)
    void shouldNeverMeetAnEmptyReceiveQueue() throws InterruptedException
    {
        final RaasConfiguration few = new RaasConfiguration().rpcCredits(2);
        try (SoftPair pair = new SoftPair(directory, few, new RaasConfiguration().rpcCredits(2)))
        {
            final VirtualQp vqp = pair.connect((on, cookie, status) -> {});
            final AtomicBoolean isStopping = new AtomicBoolean();
            final Thread server = new Thread(() ->
            {
                while (!isStopping.get())
                {
                    pair.server.poll();
                }
            }, "server");
            server.start();
            try
            {
                call(pair, vqp);
            }
            finally
            {
                isStopping.set(true);
                server.join();
            }
            assertThat(failed).isZero();
        }
    }

    private void call(final SoftPair pair, final VirtualQp vqp)
    {
        final UnsafeBuffer request = new UnsafeBuffer(new byte[16]);
        int made = 0;
        while (ended < CALLS)
        {
            while (made < CALLS && made - ended < 6 && pair.client.rpcClient().call(
                vqp, 1, request, 0, 16, SoftPair.TIMEOUT_NS, (callId, status, payload, offset, length) ->
                {
                    ended++;
                    failed += status == RpcStatus.OK ? 0 : 1;
                }) > 0)
            {
                made++;
            }
            pair.client.poll();
            assertThat(vqp.failure()).isEmpty();
        }
    }
}
