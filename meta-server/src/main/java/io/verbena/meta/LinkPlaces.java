package io.verbena.meta;

import io.verbena.raas.Admission;
import io.verbena.raas.ConnectionAcceptor;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;

import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Who gets a connection to the meta server. Clients, nodes, and the server's own connections to memory nodes, over
 * which it fences, each have room that the others cannot take. Owned by the server's thread.
 */
final class LinkPlaces implements ConnectionAcceptor
{
    /** A node that connects anew may do so before its last connection is known to be over. */
    private static final int CONNECTIONS_PER_NODE = 2;

    private final int clientPlaces;
    private final int nodePlaces;
    private final String clientSetting;
    private final String clientOption;
    private final String nodeSetting;
    private Supplier<Admission> admission;
    private IntSupplier clientCount;
    private IntSupplier connectionCount;

    LinkPlaces(final MetaServerConfiguration configuration, final DeviceAttributes device)
    {
        nodePlaces = CONNECTIONS_PER_NODE * configuration.maxNodes();
        final RaasConfiguration all = raas(configuration, device, configuration.maxClients() + nodePlaces);
        final RaasConfiguration nodesOnly = raas(configuration, device, nodePlaces);
        final RaasConfiguration oneClient = raas(configuration, device, nodePlaces + 1);
        final int perClient = oneClient.completionQueueCapacity() - nodesOnly.completionQueueCapacity();
        // A device with short completion queues has room for fewer clients, not for fewer nodes.
        final int roomForClients = (all.completionQueueCapacity() - nodesOnly.completionQueueCapacity()) /
            Math.max(1, perClient);
        clientPlaces = Math.min(configuration.maxClients(), roomForClients);
        final boolean isLimitedByDevice = clientPlaces < configuration.maxClients();
        clientSetting = isLimitedByDevice ?
            "its device has no longer completion queues" : "raise --max-clients, or close clients";
        clientOption = isLimitedByDevice ? "none: its device has no longer completion queues" : "--max-clients";
        nodeSetting = "raise --max-nodes (" + configuration.maxNodes() + ")";
    }

    private static RaasConfiguration raas(
        final MetaServerConfiguration configuration, final DeviceAttributes device, final int accepted)
    {
        return new RaasConfiguration().dcInitiators(0).completionChannel(configuration.completionChannel())
            .peers(MemoryNodeCalls.MAX_CALLS + 1, accepted, device);
    }

    /** @return settings of a context that has room for all of them. */
    RaasConfiguration configure(final MetaServerConfiguration configuration, final DeviceAttributes device)
    {
        return raas(configuration, device, clientPlaces + nodePlaces)
            .roomSetting("--max-clients (" + configuration.maxClients() + ") of the meta server");
    }

    /** @param given to each that there is room for, from now on, as it is when the peer connects. */
    void open(final Supplier<Admission> given)
    {
        admission = given;
    }

    /**
     * @param ofClients connections of clients that are open.
     * @param ofAll     connections of clients and nodes that are open.
     */
    void count(final IntSupplier ofClients, final IntSupplier ofAll)
    {
        clientCount = ofClients;
        connectionCount = ofAll;
    }

    /** @return clients connected now. */
    int clients()
    {
        return clientCount.getAsInt();
    }

    /** @return clients, and connections of nodes, with what is used of the room for each. */
    List<RaasLimit> limits()
    {
        final int clients = clients();
        return List.of(
            new RaasLimit("clients", clients, clientPlaces, clientOption),
            new RaasLimit("connections of nodes", connectionCount.getAsInt() - clients, nodePlaces, "--max-nodes"));
    }

    @Override
    public Admission onConnect(final PeerIdentity caller, final DeviceAddress source)
    {
        final int clients = clients();
        if (caller.isClient())
        {
            return clients < clientPlaces ? admission.get() : Admission.refuse(
                "the meta server has no room for another client: " + clients + " are connected; " + clientSetting);
        }
        final int nodes = connectionCount.getAsInt() - clients;
        return nodes < nodePlaces ? admission.get() : Admission.refuse(
            "the meta server has no room for another node: " + nodes + " connections are open; " + nodeSetting);
    }
}
