package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasContext;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A stub of a compute node behind its front door, and an endpoint that stands for it, stepped by one thread. */
final class RemoteRig implements AutoCloseable
{
    static final int PORT = 5;
    static final TableReference TABLE = new TableReference("t", 7);
    static final long TIMEOUT_NS = 10_000_000_000L;

    /** An operation of the test. */
    static final class Operation extends OperationRequest
    {
        int doneCount;

        @Override
        protected void onDone()
        {
            doneCount++;
        }
    }

    /** A request about tables of the test. */
    static final class Control extends ControlRequest
    {
        Control(final Kind kind, final String name, final long expectedRecords, final long deadlineNs)
        {
            super(kind, name, expectedRecords, deadlineNs);
        }

        Control(
            final Kind kind, final String name, final long expectedRecords, final int copies, final long deadlineNs)
        {
            super(kind, name, expectedRecords, copies, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            // polled
        }
    }

    final SoftFabric fabric;
    final Device serverDevice;
    final Device clientDevice;
    final StubEndpoint node = new StubEndpoint();
    final RequestServer server;
    final RaasContext client;
    final DutyLock dutyLock;
    final RemoteEndpoint endpoint;
    final List<Throwable> errors = new ArrayList<>();
    boolean isServerStopped;

    RemoteRig(final Path directory)
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory).rnrTimeoutNs(0));
        serverDevice = fabric.openDevice("compute");
        clientDevice = fabric.openDevice("client");
        server = RequestServer.open(serverDevice, PORT, node, 4, null, errors::add);
        client = RaasContext.open(clientDevice, RemoteEndpoint.configure(2).errorHandler(errors::add));
        dutyLock = new DutyLock(
            transport(), () -> {}, client.clock(), DutyLock.Patience.ANOTHER_PROCESS_ANSWERS);
        endpoint = new RemoteEndpoint(
            client, new PeerAddress(serverDevice.address(), PORT, 3, 9), 9, dutyLock, TIMEOUT_NS);
    }

    private DutyLock.Duty transport()
    {
        return new DutyLock.Duty()
        {
            @Override
            public int serve()
            {
                return client.poll() + endpoint.poll(nowNs());
            }

            @Override
            public boolean isDutyDue()
            {
                return false;
            }

            @Override
            public int poll()
            {
                return client.poll();
            }

            @Override
            public boolean isBusy()
            {
                return endpoint.isBusy();
            }
        };
    }

    RemoteRig connected()
    {
        runUntil(() -> RemoteEndpoint.State.READY == endpoint.state());
        return this;
    }

    long nowNs()
    {
        return client.clock().nanoTime();
    }

    static Operation operation(
        final RequestKind kind, final byte[] key, final byte[] value, final long version, final long deadlineNs)
    {
        final Operation operation = new Operation();
        operation.ask(kind, TABLE, key, value, version, deadlineNs);
        return operation;
    }

    Operation submit(final RequestKind kind, final byte[] key, final byte[] value)
    {
        final Operation operation = operation(kind, key, value, 0, nowNs() + TIMEOUT_NS);
        endpoint.submit(operation);
        return operation;
    }

    Control control(final ControlRequest.Kind kind, final String name)
    {
        final Control control = new Control(kind, name, 50, nowNs() + TIMEOUT_NS);
        endpoint.submit(control);
        return control;
    }

    Operation run(final RequestKind kind, final byte[] key, final byte[] value)
    {
        final Operation operation = submit(kind, key, value);
        runUntil(() -> operation.doneCount > 0);
        return operation;
    }

    void step()
    {
        client.poll();
        endpoint.poll(nowNs());
        if (!isServerStopped)
        {
            server.doWork();
            node.answerAll();
        }
    }

    void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = nowNs() + 2 * TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            step();
            if (nowNs() - deadlineNs > 0)
            {
                throw new AssertionError("condition not reached in time");
            }
        }
    }

    @Override
    public void close()
    {
        endpoint.close();
        client.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }
}
