package io.verbena.server;

import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.raft.GroupRehearsal;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.BootstrapServer;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.session.Heartbeats;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Has a follower run the code of a leader once, before it leads: a member that leads for the first time since its start
 * loads that code while the cluster waits for it. First the {@linkplain GroupRehearsal library's leader}, then a meta
 * server of its own, on an empty state in memory and on devices that nobody knows: one node joins, creates a table and
 * leaves. It can be reached with a token only that is made here and forgotten, at a free port of loopback. Nothing of
 * it reaches the group or a figure; the log has what the library says of the end of its members.
 *
 * <p>On a thread of its own, which shares nothing with the member but the fabric. {@link #begin}, {@link #cancel} and
 * {@link #close} are for the member's thread.
 */
final class LeaderWarmUp implements AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(LeaderWarmUp.class);
    private static final String SLOWER = "this member leads slower the first time: {}";
    private static final String LOOPBACK = "127.0.0.1";
    private static final String NAME = "leader-warm-up";
    private static final int HANDSHAKE_MS = 5_000;
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long NAP_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /** More than any step takes to notice that it is cancelled. */
    private static final long END_MS = 10_000;
    /** Each costs some milliseconds; what the first one loads, the others have the compilers see. */
    private static final int ROUNDS = 5;
    private static final int MOST_NODES = 8;
    private static final int VIEW_TABLE_BYTES = 4_096;
    private static final int DESCRIPTOR_BYTES = 300;

    private final Fabric fabric;
    private final Path folder;
    private Thread thread;
    private volatile boolean isCancelled;
    private volatile boolean hasRehearsed;
    private volatile boolean hasServed;

    /**
     * @param fabric for two devices; stays open until this is closed.
     * @param folder for the time it takes; does not exist, or is left of an earlier one.
     */
    LeaderWarmUp(final Fabric fabric, final Path folder)
    {
        this.fabric = fabric;
        this.folder = folder;
    }

    /** Begins, unless it has begun or is cancelled. */
    void begin()
    {
        if (null == thread && !isCancelled)
        {
            thread = Thread.ofPlatform().name("verbena-" + NAME).daemon().start(this::run);
        }
    }

    /** Ends it at its next step, without waiting for that; it does not begin again. */
    void cancel()
    {
        isCancelled = true;
    }

    /** @return whether all of it was run. Any thread. */
    boolean isComplete()
    {
        return hasRehearsed && hasServed;
    }

    /** @return whether the meta server's part was run. Any thread. */
    boolean hasServed()
    {
        return hasServed;
    }

    /** Ends it, and waits until its devices are closed. Its folder goes, also that of a process that was killed. */
    @Override
    public void close()
    {
        isCancelled = true;
        try
        {
            if (null == thread || thread.join(Duration.ofMillis(END_MS)))
            {
                GroupRehearsal.discard(folder);
                return;
            }
            LOGGER.warn("thread {} has not ended within {} ms: its devices stay open", thread.getName(), END_MS);
        }
        catch (final IOException ex)
        {
            LOGGER.warn("folder {} is of no use any more and cannot be deleted: {}", folder, ex.toString());
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private void run()
    {
        try (Device serving = fabric.openDevice(NAME); Device calling = fabric.openDevice(NAME + "-node"))
        {
            hasRehearsed = rehearse(serving);
            serve(serving, calling);
            hasServed = true;
        }
        catch (final CancellationException ignore)
        {
            // The member leads, or ends.
        }
        catch (final RuntimeException ex)
        {
            LOGGER.debug(SLOWER, ex.toString());
        }
    }

    /** What comes next does not need it. */
    private boolean rehearse(final Device device)
    {
        try
        {
            return GroupRehearsal.run(
                MetaGroupKey.of(ClusterToken.random()), folder, device.clock(), () -> isCancelled);
        }
        catch (final IOException | MetaStoreException ex)
        {
            LOGGER.debug(SLOWER, ex.toString());
            return false;
        }
    }

    private void serve(final Device serving, final Device calling)
    {
        final ClusterToken token = ClusterToken.random();
        final CompletionChannel channel = Channels.create(serving);
        try (MetaServer server = MetaServer.open(serving, new InMemoryMetaStore(), new MetaServerConfiguration()
            .warmUp(true).maxNodes(MOST_NODES).maxClients(MOST_NODES).viewTableBytes(VIEW_TABLE_BYTES)
            .completionChannel(channel).clusterSecret(token.clusterSecret()));
            BootstrapServer bootstrap = BootstrapServer.open(new ClusterAddress(LOOPBACK, 0), token,
                new BootstrapAnswer(server.stat().clusterId(), NAME, server.address()), server::access,
                server::joiningSecret);
            RaasContext raas =
                RaasContext.open(calling, new RaasConfiguration().peers(2, 0, calling.attributes())))
        {
            requireTime();
            final BootstrapAnswer answer = BootstrapClient.ask(bootstrap.address(), token, HANDSHAKE_MS);
            final BootstrapLocator locator = new BootstrapLocator(bootstrap.address(), token, answer);
            for (int round = 0; round < ROUNDS; round++)
            {
                try (MetaLink link = new MetaLink(raas, locator, STEP_NS))
                {
                    new Caller(server, raas, link.actAsNode()).run();
                }
            }
        }
        finally
        {
            Channels.close(channel);
        }
    }

    private void requireTime()
    {
        if (isCancelled)
        {
            throw new CancellationException();
        }
    }

    /** The node, and the server that answers it, which take turns. */
    private final class Caller
    {
        private final MetaServer server;
        private final RaasContext raas;
        private final MetaLink link;

        Caller(final MetaServer server, final RaasContext raas, final MetaLink link)
        {
            this.server = server;
            this.raas = raas;
            this.link = link;
        }

        void run()
        {
            final ControlCall<Registration> joined = await(link.client().register(new NodeRegistration(
                0, NodeRole.COMPUTE_NODE, raas.device().address(), 0, new RemoteRegion(0, 0, 0), 0, 0,
                ReadTargetAddress.NONE), STEP_NS));
            final Registration node = joined.result();
            final Heartbeats heartbeats = new Heartbeats(joined, link.actAs(node));
            final MetaClient client = link.client();
            heartbeats.send(client, node.epoch(), true, List.of(), STEP_NS);
            while (Heartbeats.Outcome.NONE == heartbeats.poll())
            {
                poll();
            }
            final int tableId = await(client.allocateTableId(0, STEP_NS)).result();
            final TableEntry table = new TableEntry(NAME, tableId, new byte[DESCRIPTOR_BYTES]);
            await(client.createTable(table, List.of(), 0, STEP_NS));
            await(client.table(NAME, STEP_NS));
            await(client.tables("", STEP_NS));
            await(client.dropTable(NAME, STEP_NS));
            await(client.leave(node.nodeId(), node.incarnation(), STEP_NS));
        }

        private <T> ControlCall<T> await(final ControlCall<T> call)
        {
            while (!call.isDone())
            {
                poll();
            }
            if (ControlStatus.OK != call.status())
            {
                throw new IllegalStateException(call.failure());
            }
            return call;
        }

        private void poll()
        {
            requireTime();
            if (0 == server.doWork() + raas.poll() + link.poll(raas.clock().nanoTime()))
            {
                LockSupport.parkNanos(NAP_NS);
            }
        }
    }
}
