package io.verbena.raas.directory;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimRepetition;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Readers of a view whose records change all the time, with READs torn line by line in random order. */
class PeerDirectorySimTest
{
    private static final int PORT = 1;
    private static final int NODES = 12;
    private static final int CAPACITY = 16;
    private static final int NAMED_BYTES = 4096;
    private static final int NAMES = 6;
    private static final int SEEDS = 20;

    private static PeerRecord record(final int nodeId, final int incarnation)
    {
        // Every field says which life it belongs to, in both lines of the record.
        return new PeerRecord(
            nodeId,
            incarnation,
            incarnation,
            NodeRole.COMPUTE_NODE,
            new DeviceAddress(incarnation, incarnation),
            nodeId,
            new RemoteRegion(incarnation, incarnation, incarnation));
    }

    /** Every word of the content says which change it belongs to, and so does its length. */
    private static NamedRecord named(final int name, final int change)
    {
        final ByteBuffer content = ByteBuffer.allocate(Integer.BYTES * (1 + change % 50));
        while (content.hasRemaining())
        {
            content.putInt(change);
        }
        return new NamedRecord(name, Integer.toString(name), content.array());
    }

    /** Incarnations of the nodes present, and the changes that named records show. */
    private record State(Map<Integer, Integer> nodes, Map<Integer, Integer> named)
    {
    }

    /** Owns the view and changes some record in each step. */
    private static final class Owner implements Agent
    {
        private final RaasContext context;
        private final DirectoryView view;
        private final SimWorld world;
        private final int[] incarnations = new int[NODES + 1];
        private final boolean[] isPresent = new boolean[NODES + 1];
        private final Map<Long, Set<State>> statesOfVersion = new HashMap<>();
        private final Map<Integer, Integer> contents = new HashMap<>();
        private long version;
        private int changes;
        private long restsNs;
        private long nextChangeNs;

        private Owner(final SimWorld world, final SimNode node)
        {
            this.world = world;
            context = RaasContext.open(node.device(), new RaasConfiguration());
            final MemoryRegion region = context.protectionDomain().allocateRegistered(
                DirectoryView.regionLengthBytes(CAPACITY, NAMED_BYTES), AccessFlags.REMOTE_READ);
            view = new DirectoryView(region, CAPACITY, NAMED_BYTES);
            context.serve(
                PORT,
                (caller, source) -> Admission.accept(AccessFlags.REMOTE_READ, view.privateData(), region),
                (caller, method, request, offset, length, reply) -> 0);
            for (int nodeId = 1; nodeId <= NODES; nodeId++)
            {
                change(nodeId);
            }
            node.addAgent(this);
        }

        private void change(final int nodeId)
        {
            isPresent[nodeId] = !isPresent[nodeId] || world.random().nextInt(4) != 0;
            if (isPresent[nodeId])
            {
                assertThat(view.publish(record(nodeId, ++incarnations[nodeId]))).isTrue();
            }
            else
            {
                view.remove(nodeId);
            }
            remember();
            changeNamed(world.random().nextInt(NAMES));
            remember();
            if (world.random().nextBoolean())
            {
                view.membershipVersion(++version);
                remember();
            }
        }

        private void changeNamed(final int name)
        {
            if (world.random().nextInt(4) == 0)
            {
                contents.remove(name);
                view.remove(Integer.toString(name));
            }
            else
            {
                contents.put(name, ++changes);
                assertThat(view.publish(named(name, changes))).isTrue();
            }
        }

        /** What a list of the present version may show. */
        private void remember()
        {
            final Map<Integer, Integer> state = new HashMap<>();
            for (int nodeId = 1; nodeId <= NODES; nodeId++)
            {
                if (isPresent[nodeId])
                {
                    state.put(nodeId, incarnations[nodeId]);
                }
            }
            statesOfVersion.computeIfAbsent(version, (key) -> new HashSet<>())
                .add(new State(state, Map.copyOf(contents)));
        }

        @Override
        public int doWork()
        {
            if (world.clock().nanoTime() - nextChangeNs >= 0)
            {
                change(1 + world.random().nextInt(NODES));
                nextChangeNs = world.clock().nanoTime() + (restsNs == 0 ? 0 : world.random().nextLong(restsNs));
            }
            context.poll();
            return 1;
        }

        @Override
        public String roleName()
        {
            return "owner";
        }
    }

    /** Looks nodes up and checks what it is told. */
    private static final class Reader implements Agent
    {
        private final RaasContext context;
        private final PeerDirectory peers;
        private final SimWorld world;
        private final Owner owner;
        private PeerLookup lookup;
        private int nodeId;
        private int incarnationAtStart;
        private int found;
        private int notFound;
        private long tornReads;

        private Reader(final SimWorld world, final SimNode node, final PeerAddress address, final Owner owner)
        {
            this.world = world;
            this.owner = owner;
            context = RaasContext.open(node.device(), new RaasConfiguration());
            peers = new PeerDirectory(context, address, 10_000_000);
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            context.poll();
            peers.poll();
            if (lookup == null)
            {
                nodeId = 1 + world.random().nextInt(NODES);
                incarnationAtStart = owner.incarnations[nodeId];
                peers.forget(nodeId, Integer.MAX_VALUE);
                lookup = peers.lookup(nodeId, 0, 10_000_000);
            }
            else if (lookup.state() != PeerLookup.State.PENDING)
            {
                judge();
                lookup = null;
            }
            return 1;
        }

        private void judge()
        {
            tornReads += lookup.tornReads();
            assertThat(lookup.state()).as(lookup.failure()).isNotEqualTo(PeerLookup.State.FAILED);
            if (lookup.state() == PeerLookup.State.FOUND)
            {
                final PeerRecord record = lookup.record();
                assertThat(record).isEqualTo(record(nodeId, record.incarnation()));
                assertThat(record.incarnation()).isBetween(incarnationAtStart, owner.incarnations[nodeId]);
                found++;
            }
            else
            {
                notFound++;
            }
        }

        @Override
        public String roleName()
        {
            return "reader";
        }
    }

    /** Lists all nodes and checks that the owner's list was like that. */
    private static final class Lister implements Agent
    {
        private final RaasContext context;
        private final PeerDirectory peers;
        private final Owner owner;
        private PeerListing listing;
        private long versionAtStart;
        private int listed;
        private long tornReads;

        private Lister(final SimNode node, final PeerAddress address, final Owner owner)
        {
            this.owner = owner;
            context = RaasContext.open(node.device(), new RaasConfiguration());
            peers = new PeerDirectory(context, address, 10_000_000);
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            context.poll();
            peers.poll();
            if (listing == null)
            {
                versionAtStart = owner.version;
                listing = peers.list(versionAtStart, 10_000_000);
            }
            else if (listing.state() != PeerListing.State.PENDING)
            {
                judge();
                listing = null;
            }
            return 1;
        }

        private void judge()
        {
            tornReads += listing.tornReads();
            assertThat(listing.state()).as(listing.failure()).isEqualTo(PeerListing.State.LISTED);
            assertThat(listing.membershipVersion()).isBetween(versionAtStart, owner.version);
            final Map<Integer, Integer> state = new HashMap<>();
            for (final PeerRecord each : listing.records())
            {
                assertThat(each).isEqualTo(record(each.nodeId(), each.incarnation()));
                state.put(each.nodeId(), each.incarnation());
            }
            final Map<Integer, Integer> contents = new HashMap<>();
            for (final NamedRecord each : listing.named())
            {
                final int change = ByteBuffer.wrap(each.content()).getInt();
                assertThat(each.content()).isEqualTo(named(each.number(), change).content());
                assertThat(each.name()).isEqualTo(Integer.toString(each.number()));
                contents.put(each.number(), change);
            }
            assertThat(owner.statesOfVersion.get(listing.membershipVersion())).contains(new State(state, contents));
            listed++;
        }

        @Override
        public String roleName()
        {
            return "lister";
        }
    }

    @Test
    void shouldListOneStateOfTheViewAsNewAsWhatWasHeard()
    {
        long listed = 0;
        long torn = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
            {
                final SimNode ownerNode = world.addNode("owner");
                final Owner owner = new Owner(world, ownerNode);
                owner.restsNs = 20_000;
                final PeerAddress address = new PeerAddress(ownerNode.device().address(), PORT, 0, 0);
                final Lister first = new Lister(world.addNode("first"), address, owner);
                final Lister second = new Lister(world.addNode("second"), address, owner);
                world.runFor(3_000_000);
                listed += first.listed + second.listed;
                torn += first.tornReads + second.tornReads;
            }
        }
        assertThat(listed).isGreaterThan(500);
        assertThat(torn).as("the test must have torn something").isGreaterThan(100);
    }

    @Test
    void shouldNeverTellATornRecord()
    {
        long found = 0;
        long notFound = 0;
        long torn = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
            {
                final SimNode ownerNode = world.addNode("owner");
                final Owner owner = new Owner(world, ownerNode);
                final PeerAddress address = new PeerAddress(ownerNode.device().address(), PORT, 0, 0);
                final Reader first = new Reader(world, world.addNode("first"), address, owner);
                final Reader second = new Reader(world, world.addNode("second"), address, owner);
                world.runFor(1_500_000);
                found += first.found + second.found;
                notFound += first.notFound + second.notFound;
                torn += first.tornReads + second.tornReads;
            }
        }
        assertThat(found).isGreaterThan(500);
        assertThat(notFound).isPositive();
        assertThat(torn).as("the test must have torn something").isGreaterThan(20);
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(this::shouldNeverTellATornRecord);
    }
}
