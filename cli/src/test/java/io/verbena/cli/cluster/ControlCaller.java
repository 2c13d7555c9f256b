package io.verbena.cli.cluster;

import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.CloseHelper;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * A compute node as far as the meta server knows: it registers, renews its lease, creates and drops tables without
 * memory, leaves and registers again, until {@link #end}, and writes down what was acknowledged. A thread.
 */
final class ControlCaller extends Thread
{
    private static final int BOOTSTRAP_TIMEOUT_MS = 60_000;
    private static final long CALL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final int STEPS_PER_LIFE = 40;
    /** What a registration got without a write is written by the leader within some milliseconds. */
    private static final long WRITE_BEHIND_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final byte[] DESCRIPTOR = new byte[300];

    private final String name;
    private final ClusterFolder folder;
    private final ControlRecord record;
    private final Random random;
    private volatile boolean isOver;
    private volatile Throwable failure;
    private RaasContext raas;
    private MetaLink link;
    /** Null while it is not registered. */
    private Registration registration;
    private long registeredNs;
    /** A change was acknowledged that was asked for well after the registration: the log has it behind that. */
    private boolean isLogged;
    /** Its identity may have been a spare, which the next leader does not know as this one's before it is written. */
    private boolean isWritten;
    /** Before the last request was sent that renewed its lease. */
    private long renewedNs;
    private int tables;

    ControlCaller(final int number, final ClusterFolder folder, final ControlRecord record, final long seed)
    {
        super("control-caller-" + number);
        name = "caller" + number;
        this.folder = folder;
        this.record = record;
        random = new Random(seed);
    }

    /** After its present call. */
    void end()
    {
        isOver = true;
    }

    /** Throws what has made it end. */
    void requireWell()
    {
        if (null != failure)
        {
            throw new AssertionError(name + " ended: " + failure, failure);
        }
    }

    @Override
    public void run()
    {
        final ClusterAddress cluster = ClusterAddress.parse(folder.address());
        final ClusterToken token = ClusterToken.read(folder.token());
        final BootstrapAnswer answer = BootstrapClient.ask(cluster, token, BOOTSTRAP_TIMEOUT_MS);
        try (Fabric fabric =
            Fabrics.open(NetworkFabric.toJoin(answer, null, null, folder.token()), ProcessRole.EXPENDABLE);
            Device device = fabric.openDevice(name + '-' + ProcessHandle.current().pid()))
        {
            raas = RaasContext.open(device, new RaasConfiguration().peers(2, 0, device.attributes()));
            link = new MetaLink(raas, new BootstrapLocator(cluster, token, answer), CALL_TIMEOUT_NS).actAsNode();
            try
            {
                while (!isOver)
                {
                    live(device);
                }
            }
            finally
            {
                CloseHelper.quietCloseAll(link, raas);
            }
        }
        catch (final RuntimeException | Error ex)
        {
            failure = ex;
        }
    }

    /** From one registration to its end. */
    private void live(final Device device)
    {
        final long sentNs = System.nanoTime();
        final ControlCall<Registration> call = await((meta) -> meta.register(new NodeRegistration(0,
            NodeRole.COMPUTE_NODE, device.address(), 0, new RemoteRegion(0, 0, 0), 0, 0, ReadTargetAddress.NONE),
            CALL_TIMEOUT_NS));
        if (ControlStatus.OK != call.status())
        {
            return;
        }
        registration = call.result();
        renewedNs = sentNs;
        registeredNs = System.nanoTime();
        isLogged = false;
        isWritten = false;
        record.registered(registration);
        link.actAs(registration);
        for (int step = 0; step < STEPS_PER_LIFE && !isOver && null != registration; step++)
        {
            switch (random.nextInt(4))
            {
                case 0 -> heartbeat();
                case 1 -> dropTable();
                default -> createTable();
            }
        }
        if (null != registration && ControlStatus.OK == await((meta) -> meta.leave(
            registration.nodeId(), registration.incarnation(), CALL_TIMEOUT_NS)).status())
        {
            record.left();
        }
        registration = null;
        link.actAsNobody();
    }

    private void heartbeat()
    {
        final long sentNs = System.nanoTime();
        final ControlStatus status = await((meta) -> meta.heartbeat(registration.nodeId(), registration.incarnation(),
            registration.epoch() - 1, false, HeldSecrets.NONE, CALL_TIMEOUT_NS)).status();
        if (ControlStatus.OK == status)
        {
            renewedNs = sentNs;
            // By the leader that wrote it before the change, or by another one, which has it from the log then.
            isWritten |= isLogged;
            record.renewed();
        }
        else if (ControlStatus.UNKNOWN_NODE == status)
        {
            if (isWritten && System.nanoTime() - renewedNs < registration.leaseNs())
            {
                throw new AssertionError("a registration that was written is lost: " + registration);
            }
            registration = null;
        }
    }

    private void createTable()
    {
        final ControlCall<Integer> number = await((meta) -> meta.allocateTableId(0, CALL_TIMEOUT_NS));
        if (ControlStatus.OK != number.status())
        {
            endWithLease(number);
            return;
        }
        record.numbered(number.result());
        final String table = name + '-' + tables++;
        record.creating(table);
        final long sentNs = System.nanoTime();
        final ControlCall<Void> call = await((meta) -> meta.createTable(
            new TableEntry(table, number.result(), DESCRIPTOR), List.of(), 0, CALL_TIMEOUT_NS));
        if (ControlStatus.OK == call.status())
        {
            record.created(table, number.result());
            isLogged |= sentNs - registeredNs >= WRITE_BEHIND_NS;
        }
        else
        {
            endWithLease(call);
        }
    }

    private void dropTable()
    {
        final String table = record.anyTable(name, random);
        if (null == table)
        {
            return;
        }
        record.dropping(table);
        final long sentNs = System.nanoTime();
        final ControlCall<TableEntry> call = await((meta) -> meta.dropTable(table, CALL_TIMEOUT_NS));
        if (ControlStatus.OK == call.status())
        {
            record.dropped(table);
            isLogged |= sentNs - registeredNs >= WRITE_BEHIND_NS;
        }
        else
        {
            endWithLease(call);
        }
    }

    /** Whoever did not renew it in time joins anew. */
    private void endWithLease(final ControlCall<?> call)
    {
        if (System.nanoTime() - renewedNs >= registration.leaseNs() || ControlStatus.FORBIDDEN == call.status())
        {
            registration = null;
        }
    }

    private <T> ControlCall<T> await(final Function<MetaClient, ControlCall<T>> caller)
    {
        final ControlCall<T> call = caller.apply(link.freshClient());
        while (!call.isDone())
        {
            poll();
        }
        record.ended(call.status());
        if (ControlStatus.OK != call.status())
        {
            link.onUnanswered();
            final long pauseNs = Math.max(PAUSE_NS, call.retryDelayNs());
            for (final long sinceNs = System.nanoTime(); System.nanoTime() - sinceNs < pauseNs;)
            {
                poll();
            }
        }
        return call;
    }

    private void poll()
    {
        if (0 == raas.poll() + link.poll(raas.clock().nanoTime()))
        {
            LockSupport.parkNanos(POLL_NS);
        }
    }
}
