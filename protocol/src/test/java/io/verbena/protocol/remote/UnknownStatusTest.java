package io.verbena.protocol.remote;

import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A compute node that publishes a status of another version is not taken for one that serves. */
@Timeout(60)
class UnknownStatusTest
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int PORT = 7;

    @TempDir
    Path directory;

    @Test
    void shouldFailWhenTheStateIsNotKnown()
    {
        assertThat(failureWith(7L << Short.SIZE | ServiceStatusDescriptor.VERSION)).contains("0x70001", "update");
    }

    @Test
    void shouldFailWhenTheVersionIsNotKnown()
    {
        assertThat(failureWith((long)ServiceStatusDescriptor.STATE_SERVING << Short.SIZE | 9))
            .contains("0x10009", "update");
    }

    private String failureWith(final long word)
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
            Device nodeDevice = fabric.openDevice("compute");
            Device clientDevice = fabric.openDevice("client");
            RaasContext node = RaasContext.open(nodeDevice, new RaasConfiguration());
            RaasContext client = RaasContext.open(clientDevice, RemoteEndpoint.configure(2)))
        {
            final MemoryRegion status = node.protectionDomain().allocateRegistered(
                ServiceStatusDescriptor.LENGTH_BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
            status.segment().set(ValueLayout.JAVA_LONG, 0, word);
            node.serve(PORT, (caller, source) -> Admission.accept(AccessFlags.REMOTE_READ, new byte[0], status),
                (caller, method, request, offset, lengthBytes, reply) -> reply.refuse("never asked"));
            final RemoteEndpoint endpoint = new RemoteEndpoint(client,
                new PeerAddress(nodeDevice.address(), PORT, 3, 9), 9,
                new DutyLock(null, () -> {}, client.clock(), DutyLock.Patience.ANOTHER_PROCESS_ANSWERS), TIMEOUT_NS);
            final RemoteRig.Operation waiting = RemoteRig.operation(
                RequestKind.GET, new byte[]{1}, null, 0, client.clock().nanoTime() + TIMEOUT_NS);
            endpoint.submit(waiting);
            final long deadlineNs = client.clock().nanoTime() + TIMEOUT_NS;
            while (NodeRequest.DONE != waiting.state() && client.clock().nanoTime() - deadlineNs < 0)
            {
                client.poll();
                node.poll();
                endpoint.poll(client.clock().nanoTime());
            }
            assertThat(endpoint.state()).isEqualTo(RemoteEndpoint.State.FAILED);
            assertThat(waiting.answer()).as("another node may take it").isEqualTo(OperationAnswer.NOT_SERVING);
            endpoint.close();
            final String failure = endpoint.failure();
            node.poll();
            status.close();
            return failure;
        }
    }
}
