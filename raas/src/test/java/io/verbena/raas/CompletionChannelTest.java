package io.verbena.raas;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.completion.CompletionDispatcher;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A context whose owner sleeps on a completion channel: woken by what arrives, once polls have found nothing. */
@Timeout(60)
class CompletionChannelTest
{
    private static final int PORT = 7;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    @TempDir
    private Path directory;
    private SoftFabric fabric;
    private Device serverDevice;
    private Device clientDevice;
    private CompletionChannel channel;
    private RaasContext server;
    private RaasContext client;
    private MemoryRegion region;
    private RpcServer rpcServer;
    private VirtualQp vqp;
    private boolean isAnswered;

    @BeforeEach
    void connect()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        serverDevice = fabric.openDevice("server");
        clientDevice = fabric.openDevice("client");
        channel = serverDevice.createCompletionChannel();
        server = RaasContext.open(serverDevice, new RaasConfiguration().completionChannel(channel));
        client = RaasContext.open(clientDevice, new RaasConfiguration());
        region = server.protectionDomain().allocateRegistered(4096, AccessFlags.ALL_REMOTE);
        rpcServer = server.serve(PORT,
            (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
            (caller, method, request, offset, length, reply) -> 0);
        vqp = client.connect(new PeerAddress(serverDevice.address(), PORT, 1, 1), (from, cookie, status) -> { },
            TIMEOUT_NS);
        while (vqp.state() == VirtualQp.State.CONNECTING)
        {
            client.poll();
            server.poll();
        }
    }

    @AfterEach
    void close()
    {
        client.close();
        rpcServer.close();
        region.close();
        server.close();
        channel.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }

    private void pollServer(final int times)
    {
        for (int i = 0; i < times; i++)
        {
            assertThat(server.poll()).isZero();
        }
    }

    /** Takes what is left of connecting, and events of it. */
    private void settle()
    {
        for (int i = 0; i < 1_000; i++)
        {
            client.poll();
            server.poll();
        }
        while (channel.await(0) != null)
        {
            server.poll();
        }
        // One call makes the count of empty polls begin anew.
        call();
        while (server.poll() == 0)
        {
            client.poll();
        }
        finish();
        while (channel.await(0) != null)
        {
            continue;
        }
    }

    private void call()
    {
        isAnswered = false;
        final long callId = client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, TIMEOUT_NS,
            (id, status, payload, offset, length) -> isAnswered = true);
        assertThat(callId).isPositive();
    }

    private void finish()
    {
        while (!isAnswered)
        {
            client.poll();
            server.poll();
        }
    }

    @Test
    void shouldWakeItsOwnerWhenARequestArrives() throws InterruptedException
    {
        settle();
        for (int round = 0; round < 20; round++)
        {
            while (server.poll() > 0)
            {
                continue;
            }
            pollServer(CompletionDispatcher.POLLS_BEFORE_ARMING + 1);
            final long[] waitedNs = new long[1];
            final Thread owner = Thread.ofPlatform().start(() ->
            {
                final long startNs = System.nanoTime();
                if (channel.await(TIMEOUT_NS) == null)
                {
                    waitedNs[0] = TIMEOUT_NS;
                    return;
                }
                waitedNs[0] = System.nanoTime() - startNs;
            });
            call();
            while (owner.isAlive())
            {
                client.poll();
                Thread.yield();
            }
            owner.join();
            assertThat(waitedNs[0]).as("woken, round %d", round).isLessThan(TIMEOUT_NS);
            finish();
        }
    }

    @Test
    void shouldRaiseNothingForAnOwnerThatStillPolls()
    {
        settle();
        pollServer(CompletionDispatcher.POLLS_BEFORE_ARMING / 2);
        call();
        assertThat(channel.await(0)).as("not armed").isNull();
        finish();
    }
}
