package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** What tests of tenants have in common: two of a client that share its queue pair to a server of {@code soft}. */
abstract class TenantFixture
{
    static final int BLOCK = 4096 - ChannelScheduler.REQUEST_COST_BYTES;

    @TempDir
    Path directory;
    SoftPair pair;
    final List<MemoryRegion> regions = new ArrayList<>();
    final RecordingListener greedyDone = new RecordingListener();
    final RecordingListener quietDone = new RecordingListener();
    Tenant greedy;
    Tenant quiet;
    VirtualQp greedyQp;
    VirtualQp quietQp;
    MemoryRegion greedyMemory;
    MemoryRegion quietMemory;

    final void open(
        final RaasConfiguration forClient, final TenantOptions forGreedy, final TenantOptions forQuiet)
    {
        open(new PeerIdentity(1, 1), forClient, forGreedy, forQuiet);
    }

    final void open(
        final PeerIdentity server, final RaasConfiguration forClient, final TenantOptions forGreedy,
        final TenantOptions forQuiet)
    {
        pair = new SoftPair(directory, new RaasConfiguration().identity(server).messageReceives(128), forClient);
        greedy = pair.client.tenant("greedy", forGreedy);
        quiet = pair.client.tenant("quiet", forQuiet);
        greedyMemory = memory(greedy);
        quietMemory = memory(quiet);
        greedyQp = connect(greedy, greedyDone);
        quietQp = connect(quiet, quietDone);
    }

    final void open()
    {
        open(new RaasConfiguration(), new TenantOptions(), new TenantOptions());
    }

    final MemoryRegion memory(final Tenant tenant)
    {
        final MemoryRegion region = tenant.protectionDomain().allocateRegistered(1 << 16, AccessFlags.LOCAL_WRITE);
        regions.add(region);
        return region;
    }

    final VirtualQp connect(final Tenant tenant, final BatchListener listener)
    {
        return connect(pair.peer(), tenant, listener);
    }

    final VirtualQp connect(final PeerAddress peer, final Tenant tenant, final BatchListener listener)
    {
        final VirtualQp vqp = pair.client.connect(
            tenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE, listener, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        return vqp;
    }

    @AfterEach
    final void close()
    {
        regions.forEach(MemoryRegion::close);
        pair.close();
    }

    final int read(final VirtualQp vqp, final int cookie, final int lengthBytes)
    {
        vqp.begin();
        vqp.read(vqp.tenant() == quiet ? quietMemory : greedyMemory, 0, lengthBytes, pair.remote(), 0);
        return vqp.complete(cookie);
    }

    final int add(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.fetchAdd(vqp.tenant() == quiet ? quietMemory : greedyMemory, 0, pair.remote(), 0, 1);
        return vqp.complete(cookie);
    }

    final void readOften(final VirtualQp vqp, final int count, final int lengthBytes)
    {
        for (int i = 0; i < count; i++)
        {
            assertThat(read(vqp, i, lengthBytes)).isEqualTo(PostStatus.OK);
        }
    }

    static List<Integer> upTo(final int count)
    {
        return IntStream.range(0, count).boxed().toList();
    }
}
