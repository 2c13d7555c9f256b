package io.verbena.meta;

import io.verbena.raas.Admission;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.rdma.verbs.DeviceAttributes;

import org.junit.jupiter.api.Test;

import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** {@link LinkPlaces}. */
class LinkPlacesTest
{
    private static final int CLIENTS = 5;
    private static final int NODES = 3;
    /** Each node may have two connections. */
    private static final int NODE_CONNECTIONS = 2 * NODES;
    private static final int LONG_QUEUE = 1 << 20;
    private static final PeerIdentity NODE = new PeerIdentity(1, 1);

    private int clients;
    private int nodes;

    private static MetaServerConfiguration configuration()
    {
        return new MetaServerConfiguration().maxClients(CLIENTS).maxNodes(NODES);
    }

    private static DeviceAttributes device(final int maxCompletions)
    {
        return new DeviceAttributes("sim", Set.of(), false, 1_024, maxCompletions, 1 << 20, 0, 1, 16, 1_024, 0, 0);
    }

    private LinkPlaces places(final int maxCompletions)
    {
        final LinkPlaces places = new LinkPlaces(configuration(), device(maxCompletions));
        places.open(Admission::callsOnly);
        places.count(() -> clients, () -> clients + nodes);
        return places;
    }

    private static String reason(final LinkPlaces places, final PeerIdentity caller)
    {
        final Admission admission = places.onConnect(caller, null);
        assertThat(admission.isAccepted()).isEqualTo(admission.reason().isEmpty());
        return admission.reason();
    }

    @Test
    void shouldRefuseClientsBeyondTheirRoomAndAdmitNodes()
    {
        final LinkPlaces places = places(LONG_QUEUE);
        clients = CLIENTS - 1;
        nodes = NODE_CONNECTIONS;
        assertThat(reason(places, PeerIdentity.CLIENT)).isEmpty();
        clients = CLIENTS;
        nodes = NODE_CONNECTIONS - 1;
        assertThat(places.clients()).isEqualTo(CLIENTS);
        assertThat(reason(places, PeerIdentity.CLIENT)).isEqualTo("the meta server has no room for another client: " +
            "5 are connected; raise --max-clients, or close clients");
        assertThat(reason(places, NODE)).isEmpty();
    }

    @Test
    void shouldRefuseNodesBeyondTheirRoomAndAdmitClients()
    {
        final LinkPlaces places = places(LONG_QUEUE);
        nodes = NODE_CONNECTIONS;
        assertThat(reason(places, NODE)).isEqualTo(
            "the meta server has no room for another node: 6 connections are open; raise --max-nodes (3)");
        assertThat(reason(places, PeerIdentity.CLIENT)).isEmpty();
    }

    @Test
    void shouldOpenRoomForAllAndForTheConnectionsThatFenceNodes()
    {
        final RaasConfiguration raas = places(LONG_QUEUE).configure(configuration(), device(LONG_QUEUE));
        assertThat(raas.maxChannels()).isEqualTo(MemoryNodeCalls.MAX_CALLS + 1 + CLIENTS + NODE_CONNECTIONS);
        assertThat(raas.roomSetting()).isEqualTo("--max-clients (5) of the meta server");
    }

    /** What a device with short completion queues lacks, clients lack. */
    @Test
    void shouldHaveLessRoomForClientsOnASmallDeviceAndAsMuchForNodes()
    {
        final int needed = places(LONG_QUEUE).configure(configuration(), device(LONG_QUEUE)).completionQueueCapacity();
        final LinkPlaces places = places(needed - 1);
        clients = CLIENTS - 2;
        nodes = NODE_CONNECTIONS - 1;
        assertThat(reason(places, PeerIdentity.CLIENT)).isEmpty();
        assertThat(reason(places, NODE)).isEmpty();
        clients = CLIENTS - 1;
        assertThat(reason(places, PeerIdentity.CLIENT)).isEqualTo("the meta server has no room for another client: " +
            "4 are connected; its device has no longer completion queues");
        assertThat(places.configure(configuration(), device(needed - 1)).completionQueueCapacity())
            .isLessThan(needed);
    }
}
