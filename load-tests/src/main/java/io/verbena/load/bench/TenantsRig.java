package io.verbena.load.bench;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcReply;
import io.verbena.raas.RpcServer;
import io.verbena.raas.Tenant;
import io.verbena.raas.TenantOptions;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import org.HdrHistogram.Histogram;
import org.agrona.IoUtil;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/**
 * Two tenants of the soft fabric with keys of their own on one memory, over one queue pair: a bystander, which READs at
 * a fixed rate, and one that writes and is fenced. One thread does all.
 */
final class TenantsRig implements AutoCloseable
{
    /** What happens in the middle of a slice. */
    enum Event
    {
        NONE,
        /** The grant of the other identity ends, then its registration is closed. */
        FENCE,
        /** Its registration is closed while it posts, as if it did not know: the queue pair breaks. */
        FENCE_WHILE_POSTING
    }

    /** From when a READ was due until its callback. */
    static final class Times
    {
        private final Histogram histogram = new Histogram(3);

        double p999Ns()
        {
            return histogram.getValueAtPercentile(99.9);
        }

        double mostNs()
        {
            return histogram.getMaxValue();
        }
    }

    /** How often a rig can be fenced: keys that are granted when it connects. */
    static final int FENCINGS = 3;
    private static final long SLICE_NS = 100_000_000;
    private static final int PORT = 7;
    private static final int REGION_BYTES = 1 << 20;
    private static final int READ_BYTES = 64;
    private static final int CLOSED_LOOP = 16;
    private static final int SATURATING_READS = 200_000;
    private static final int MOST_DUE = 1 << 16;
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private final NanoClock clock;
    private final Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "verbena-bench-");
    private final Fabric fabric;
    private final Device serverDevice;
    private final Device clientDevice;
    private final RaasContext server;
    private final RaasContext client;
    private final MemoryRegion served;
    private final MemoryRegion[] keys = new MemoryRegion[FENCINGS];
    private final RpcServer rpcServer;
    private final MemoryRegion bystanderMemory;
    private final MemoryRegion fencedMemory;
    private final VirtualQp bystander;
    private final Tenant fencedTenant;
    private final PeerAddress peer;
    private final long[] dueNs = new long[MOST_DUE];
    private VirtualQp fenced;
    private int fencings;
    private Times times = new Times();
    private long done;

    TenantsRig(final NanoClock clock) throws IOException
    {
        this.clock = clock;
        fabric = Fabrics.open("soft:" + directory);
        serverDevice = fabric.openDevice("memory-node");
        clientDevice = fabric.openDevice("compute-node");
        server = RaasContext.open(serverDevice, new RaasConfiguration().identity(new PeerIdentity(1, 1)));
        client = RaasContext.open(clientDevice,
            new RaasConfiguration().identity(new PeerIdentity(3, 1)).replayTimeoutNs(TIMEOUT_NS));
        served = server.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        for (int i = 0; i < FENCINGS; i++)
        {
            keys[i] = server.protectionDomain().register(served.segment(), AccessFlags.ALL_REMOTE);
        }
        rpcServer = server.serve(PORT, (caller, source) -> admission(),
            (caller, method, request, offset, lengthBytes, reply) -> RpcReply.REFUSED);
        final Tenant bystanderTenant = client.tenant("bystander", new TenantOptions());
        fencedTenant = client.tenant("fenced", new TenantOptions());
        bystanderMemory = bystanderTenant.protectionDomain().allocateRegistered(
            READ_BYTES, AccessFlags.LOCAL_WRITE);
        fencedMemory = fencedTenant.protectionDomain().allocateRegistered(READ_BYTES, AccessFlags.LOCAL_WRITE);
        peer = new PeerAddress(serverDevice.address(), PORT, 1, 1);
        bystander = client.connect(bystanderTenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE,
            this::onRead, TIMEOUT_NS);
        fenced = connectFenced();
        runUntil(() -> bystander.isReady() && fenced.isReady());
    }

    private Admission admission()
    {
        final MemoryRegion[] granted = new MemoryRegion[1 + FENCINGS - fencings];
        granted[0] = served;
        System.arraycopy(keys, fencings, granted, 1, FENCINGS - fencings);
        return Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], granted);
    }

    private VirtualQp connectFenced()
    {
        return client.connect(fencedTenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE,
            (vqp, cookie, status) ->
            {
                // the bystander is what is measured
            }, TIMEOUT_NS);
    }

    private void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = clock.nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            poll();
            if (clock.nanoTime() - deadlineNs > 0)
            {
                throw new IllegalStateException("the nodes did not answer in " + TIMEOUT_NS + " ns: " + bystander);
            }
        }
    }

    private void poll()
    {
        server.poll();
        client.poll(client.clock().nanoTime());
    }

    private void onRead(final VirtualQp vqp, final int cookie, final int status)
    {
        times.histogram.recordValue(Math.max(0, clock.nanoTime() - dueNs[cookie]));
        done++;
    }

    private boolean read(final long due)
    {
        if (bystander.space() == 0)
        {
            return false;
        }
        final int cookie = (int)(due / 64 & MOST_DUE - 1);
        bystander.begin();
        bystander.read(bystanderMemory, 0, READ_BYTES, RemoteRegion.of(served), 0);
        dueNs[cookie] = due;
        return bystander.complete(cookie) == PostStatus.OK;
    }

    private void write()
    {
        if (fenced.isReady() && fenced.carriesWrites() && fenced.outstandingBatches() == 0 && fencings < FENCINGS)
        {
            fenced.begin();
            fenced.write(fencedMemory, 0, READ_BYTES, fenced.peerRegions().get(fenced.peerRegions().size() -
                (FENCINGS - fencings)), READ_BYTES);
            fenced.complete(0);
        }
    }

    /** @return nanoseconds of one READ, when as many are under way as are worth it, beside the writer. */
    double saturationNs()
    {
        double least = Double.MAX_VALUE;
        for (int round = 0; round < FENCINGS; round++)
        {
            final long target = done + SATURATING_READS;
            long posted = done;
            final long start = clock.nanoTime();
            while (done < target)
            {
                while (posted - done < CLOSED_LOOP && read(posted * 64))
                {
                    posted++;
                }
                write();
                poll();
            }
            least = Math.min(least, (double)(clock.nanoTime() - start) / SATURATING_READS);
            final long rest = posted;
            runUntil(() -> done == rest);
        }
        return least;
    }

    /** A tenth of a second at a fixed rate, in the middle of which something happens to the other identity. */
    void slice(final long intervalNs, final Event event, final Times into)
    {
        times = into;
        final long first = done;
        final long start = clock.nanoTime();
        long posted = 0;
        boolean hasHappened = event == Event.NONE;
        long nowNs = start;
        while (nowNs - start < SLICE_NS)
        {
            if (!hasHappened && nowNs - start > SLICE_NS / 2)
            {
                fence(event);
                hasHappened = true;
            }
            while (nowNs - start - posted * intervalNs >= 0 && posted - (done - first) < MOST_DUE / 2 &&
                read(start + posted * intervalNs))
            {
                posted++;
            }
            write();
            poll();
            nowNs = clock.nanoTime();
        }
        final long rest = first + posted;
        runUntil(() -> done == rest);
    }

    private void fence(final Event event)
    {
        if (event == Event.FENCE)
        {
            fenced.grantedUntil(client.clock().nanoTime());
            runUntil(() -> fenced.outstandingBatches() == 0);
            keys[fencings++].close();
            fenced.grantedUntil(Long.MAX_VALUE);
        }
        else
        {
            // It goes on with the key of before, and breaks the queue pair with it.
            final RemoteRegion old = fenced.peerRegions().get(1);
            runUntil(() -> fenced.outstandingBatches() == 0);
            keys[fencings++].close();
            fenced.begin();
            fenced.write(fencedMemory, 0, READ_BYTES, old, READ_BYTES);
            fenced.complete(0);
        }
    }

    @Override
    public void close() throws IOException
    {
        bystander.close();
        fenced.close();
        bystanderMemory.close();
        fencedMemory.close();
        client.close();
        rpcServer.close();
        for (int i = fencings; i < FENCINGS; i++)
        {
            keys[i].close();
        }
        served.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
        IoUtil.delete(directory.toFile(), true);
    }
}
