package io.verbena.resp.command;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ServingNodes;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

import java.util.List;

/**
 * Describes the compute nodes as a cluster of Redis. Any of them serves any key, so the slots are only how cluster
 * clients spread their commands: equal ranges, by ascending node number, the same at every node that has the same list.
 * A client with an older list is served as well; no node ever redirects.
 */
final class ClusterTask extends Task
{
    /** What is described, and how. */
    enum Form
    {
        /** Ranges of slots, each with its node. */
        SLOTS,
        /** Nodes, each with its range of slots. */
        SHARDS,
        /** A line for each node. */
        NODES,
        /** The number of the asked node. */
        MYID,
        /** Figures. */
        INFO
    }

    private final Form form;
    private boolean isAsked;

    ClusterTask(final Form form)
    {
        this.form = form;
    }

    @Override
    public void proceed(final Session session)
    {
        if (!isAsked)
        {
            isAsked = true;
            session.worker().ask(ControlRequest.Kind.SERVING_NODES, null, null, (answer) -> take(session, answer));
        }
    }

    private void take(final Session session, final ControlRequest answer)
    {
        if (session.isClosed())
        {
            return;
        }
        if (ControlRequest.Status.OK == answer.status())
        {
            reply(session.writer(), (ServingNodes)answer.result());
        }
        else
        {
            session.writer().error("CLUSTERDOWN this node joins or leaves: " + answer.status() + "; ask another");
        }
        session.endTask();
        session.resume();
    }

    private void reply(final RespWriter writer, final ServingNodes nodes)
    {
        switch (form)
        {
            case SLOTS -> slots(writer, nodes.nodes());
            case SHARDS -> shards(writer, nodes.nodes());
            case NODES -> writer.verbatim(lines(nodes));
            case MYID -> writer.bulk(own(nodes));
            case INFO -> writer.verbatim(figures(nodes));
        }
    }

    /** The first slot of a node, by its place among so many; behind the last node, the number of slots. */
    static int firstSlot(final int place, final int nodes)
    {
        return (int)((long)place * HashSlot.COUNT / nodes);
    }

    /** 40 hexadecimal digits, as Redis has them: node number, and incarnation, since numbers are given again. */
    private static String id(final PeerRecord node)
    {
        return String.format("%08x%032x", node.nodeId(), node.incarnation());
    }

    private static String own(final ServingNodes nodes)
    {
        return nodes.nodes().stream().filter((node) -> node.nodeId() == nodes.ownNodeId()).findFirst()
            .map(ClusterTask::id).orElse("");
    }

    private static void slots(final RespWriter writer, final List<PeerRecord> nodes)
    {
        writer.array(nodes.size());
        for (int i = 0; i < nodes.size(); i++)
        {
            final PeerRecord node = nodes.get(i);
            writer.array(3);
            writer.number(firstSlot(i, nodes.size()));
            writer.number(firstSlot(i + 1, nodes.size()) - 1L);
            writer.array(4);
            writer.bulk(node.tcpService().host());
            writer.number(node.tcpService().port());
            writer.bulk(id(node));
            writer.array(0);
        }
    }

    private static void shards(final RespWriter writer, final List<PeerRecord> nodes)
    {
        writer.array(nodes.size());
        for (int i = 0; i < nodes.size(); i++)
        {
            writer.map(2);
            writer.bulk("slots");
            writer.array(2);
            writer.number(firstSlot(i, nodes.size()));
            writer.number(firstSlot(i + 1, nodes.size()) - 1L);
            writer.bulk("nodes");
            writer.array(1);
            shardNode(writer, nodes.get(i));
        }
    }

    private static void shardNode(final RespWriter writer, final PeerRecord node)
    {
        writer.map(7);
        text(writer, "id", id(node));
        writer.bulk("port");
        writer.number(node.tcpService().port());
        text(writer, "ip", node.tcpService().host());
        text(writer, "endpoint", node.tcpService().host());
        text(writer, "role", "master");
        writer.bulk("replication-offset");
        writer.number(0);
        text(writer, "health", "online");
    }

    private static void text(final RespWriter writer, final String name, final String value)
    {
        writer.bulk(name);
        writer.bulk(value);
    }

    private static String lines(final ServingNodes nodes)
    {
        final List<PeerRecord> all = nodes.nodes();
        final StringBuilder lines = new StringBuilder();
        for (int i = 0; i < all.size(); i++)
        {
            final PeerRecord node = all.get(i);
            lines.append(id(node)).append(' ').append(node.tcpService().host()).append(':')
                .append(node.tcpService().port()).append("@0 ")
                .append(node.nodeId() == nodes.ownNodeId() ? "myself,master" : "master")
                .append(" - 0 0 ").append(node.incarnation()).append(" connected ")
                .append(firstSlot(i, all.size())).append('-').append(firstSlot(i + 1, all.size()) - 1).append('\n');
        }
        return lines.toString();
    }

    private static String figures(final ServingNodes nodes)
    {
        final List<PeerRecord> all = nodes.nodes();
        final int count = all.size();
        final int slots = 0 == count ? 0 : HashSlot.COUNT;
        final int epoch = all.stream().mapToInt(PeerRecord::incarnation).max().orElse(0);
        final int own = all.stream().filter((node) -> node.nodeId() == nodes.ownNodeId())
            .mapToInt(PeerRecord::incarnation).findFirst().orElse(0);
        return "cluster_enabled:1\r\ncluster_state:" + (0 == count ? "fail" : "ok") +
            "\r\ncluster_slots_assigned:" + slots + "\r\ncluster_slots_ok:" + slots +
            "\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:" + count +
            "\r\ncluster_size:" + count + "\r\ncluster_current_epoch:" + epoch + "\r\ncluster_my_epoch:" + own +
            "\r\ncluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\n";
    }

    @Override
    public void onAnswer(final Session session, final TableOperation operation)
    {
        throw new IllegalStateException("a task without operations got the answer of one: " + operation);
    }
}
