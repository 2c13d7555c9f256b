package io.verbena.memory;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcServer;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/** Nodes that write at full speed from threads of their own, over shared memory: one is fenced, again and again. */
class IdentityKeysSystemTest
{
    private static final int LIVES = 30;
    private static final int WRITES_BEFORE_FENCE = 2_000;
    private static final int PORT = 2;
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final PeerIdentity BYSTANDER = new PeerIdentity(9, 1);

    @TempDir
    private Path directory;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean isOver;

    /** Adds to a word of its own until its key is taken away, or the test is over. */
    private final class Writer implements Runnable
    {
        private final Device device;
        private final PeerAddress memory;
        private final PeerIdentity identity;
        private final long offset;
        private final AtomicLong succeeded = new AtomicLong();
        private volatile int lastStatus;

        private Writer(
            final Device device, final PeerAddress memory, final PeerIdentity identity, final long offset)
        {
            this.device = device;
            this.memory = memory;
            this.identity = identity;
            this.offset = offset;
        }

        @Override
        public void run()
        {
            try (RaasContext raas = RaasContext.open(device, new RaasConfiguration().identity(identity));
                MemoryRegion local = raas.protectionDomain().allocateRegistered(8, AccessFlags.LOCAL_WRITE))
            {
                final VirtualQp vqp = raas.connect(memory, this::onBatchComplete, TIMEOUT_NS);
                while (!isOver && VirtualQp.State.FAILED != vqp.state())
                {
                    raas.poll();
                    if (VirtualQp.State.READY == vqp.state() && vqp.space() > 0)
                    {
                        vqp.begin();
                        vqp.fetchAdd(local, 0, vqp.peerRegions().getFirst(), offset, 1);
                        assertThat(vqp.complete(0)).isEqualTo(PostStatus.OK);
                    }
                }
                while (vqp.outstandingBatches() > 0)
                {
                    raas.poll();
                }
                vqp.close();
            }
            catch (final Throwable ex)
            {
                failure.set(ex);
            }
        }

        private void onBatchComplete(final VirtualQp vqp, final int cookie, final int status)
        {
            succeeded.lazySet(succeeded.get() + (WorkCompletionStatus.SUCCESS == status ? 1 : 0));
            lastStatus = WorkCompletionStatus.WR_FLUSH_ERR == status ? lastStatus : status;
        }
    }

    @Test
    @Timeout(120)
    void shouldLandNothingOfWhoeverIsFencedAndLoseNothingOfTheOther() throws InterruptedException
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
            Device device = fabric.openDevice("memory");
            Device first = fabric.openDevice("first");
            Device second = fabric.openDevice("second");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration());
            MemoryRegion region = raas.protectionDomain().allocateRegistered(1 << 20, AccessFlags.LOCAL_WRITE);
            IdentityKeys keys = new IdentityKeys(raas.protectionDomain(), region))
        {
            final RpcServer server = raas.serve(PORT,
                (caller, _) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], keys.grant(caller)),
                (caller, method, request, offset, length, reply) -> 0);
            final PeerAddress address = new PeerAddress(device.address(), PORT, 1, 1);
            final Writer bystander = new Writer(second, address, BYSTANDER, 8);
            final Thread bystanderThread = new Thread(bystander, "bystander");
            bystanderThread.start();
            for (int life = 1; life <= LIVES; life++)
            {
                fence(new Writer(first, address, new PeerIdentity(7, life), 0), raas, server, keys, region);
            }
            isOver = true;
            await(bystanderThread, raas);
            assertThat(failure.get()).isNull();
            assertThat(bystander.succeeded.get()).isEqualTo(word(region, 8)).isPositive();
            assertThat(bystander.lastStatus).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(keys.count()).isEqualTo(1);
        }
    }

    private void fence(
        final Writer writer, final RaasContext raas, final RpcServer server, final IdentityKeys keys,
        final MemoryRegion region) throws InterruptedException
    {
        final Thread thread = new Thread(writer, "writer-" + writer.identity.incarnation());
        thread.start();
        while (writer.succeeded.get() < WRITES_BEFORE_FENCE && thread.isAlive())
        {
            raas.poll();
        }
        server.refuse(writer.identity);
        assertThat(keys.revoke(writer.identity)).isEqualTo(1);
        final long atFence = word(region, 0);
        while (thread.isAlive())
        {
            raas.poll();
            assertThat(word(region, 0)).isEqualTo(atFence);
        }
        thread.join();
        assertThat(failure.get()).isNull();
        assertThat(writer.lastStatus).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(word(region, 0)).isEqualTo(atFence);
    }

    private static void await(final Thread thread, final RaasContext raas) throws InterruptedException
    {
        while (thread.isAlive())
        {
            raas.poll();
        }
        thread.join();
    }

    private static long word(final MemoryRegion region, final long offset)
    {
        return region.segment().get(ValueLayout.JAVA_LONG, offset);
    }
}
