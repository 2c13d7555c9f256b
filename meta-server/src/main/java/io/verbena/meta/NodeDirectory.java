package io.verbena.meta;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipListener;
import io.verbena.meta.membership.MembershipTable;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.view.View;
import io.verbena.raas.directory.DirectoryView;
import io.verbena.raas.directory.PeerRecord;
import org.agrona.collections.IntHashSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLogger;

import java.util.Comparator;
import java.util.stream.Stream;

/** Keeps the published view in step with the set of live nodes, and the log of rare events. One thread. */
final class NodeDirectory implements MembershipListener
{
    private final Logger logger;
    private final DirectoryView view;
    private long epoch;
    private final IntHashSet unlisted = new IntHashSet();
    private long computeChanges;
    private long activations;

    /** Logs nothing where {@code isWarmUp}: such nodes are nobody's. */
    NodeDirectory(final DirectoryView view, final boolean isWarmUp)
    {
        this.view = view;
        logger = isWarmUp ? NOPLogger.NOP_LOGGER : LoggerFactory.getLogger(NodeDirectory.class);
    }

    /** Sets the epoch that records published from now on carry. */
    void epoch(final long newEpoch)
    {
        epoch = newEpoch;
    }

    /** Shows the version of the membership, behind the changes that led to it. */
    void membershipVersion(final long version)
    {
        view.membershipVersion(version);
    }

    @Override
    public void onJoined(final Member member)
    {
        publish(member);
        computeChanges += member.isCompute() && !member.isStandby() ? 1 : 0;
        logger.info("joined: {}", member);
    }

    @Override
    public void onActivated(final Member member)
    {
        publish(member);
        computeChanges++;
        activations++;
        logger.info("activated: {}", member);
    }

    @Override
    public void onEnded(final Member member)
    {
        view.remove(member.nodeId());
        computeChanges += member.isCompute() ? 1 : 0;
        logger.info("ended: {}", member);
    }

    @Override
    public void onPassedOver(final Member member)
    {
        logger.info("fenced at every memory node but lost ones, which all other compute nodes have left; epochs go " +
            "on: {}", member);
    }

    @Override
    public void onFenced(final Member member)
    {
        logger.info("fenced at every memory node: {}", member);
    }

    @Override
    public void onView(final View view)
    {
        logger.info("changed: {}", view);
    }

    @Override
    public void onStaysClosed(final String why)
    {
        logger.warn("{}", why);
    }

    /** @return grows when a compute node begins or ends to serve clients. */
    long computeChanges()
    {
        return computeChanges;
    }

    /** @return spares that were activated here; each is one version of the membership. */
    long activations()
    {
        return activations;
    }

    /** Whether a node that joined could be published; where not, it must not stay. */
    boolean isListed(final int nodeId)
    {
        return !unlisted.contains(nodeId);
    }

    void publish(final Member member)
    {
        unlisted.remove(member.nodeId());

        if (!view.publish(record(member, epoch)))
        {
            unlisted.add(member.nodeId());
            logger.error("no room in the directory view: {}; start the server with a larger maxNodes", member);
        }
    }

    /** The nodes that live and have greater ids than one. */
    static NodePage nodes(final MembershipTable table, final long epoch, final int afterNodeId)
    {
        return new NodePage(table.version(),
            live(table, afterNodeId).map((member) -> record(member, epoch)).toList(), false);
    }

    /** Of memory nodes that live, have greater ids than one, and a label. */
    static FailureDomainPage failureDomains(final MembershipTable table, final int afterNodeId)
    {
        return new FailureDomainPage(live(table, afterNodeId)
            .filter((member) -> !FailureDomain.NONE.equals(member.node().failureDomain()))
            .map((member) -> new FailureDomain(member.nodeId(), member.node().failureDomain())).toList(), false);
    }

    private static Stream<Member> live(final MembershipTable table, final int afterNodeId)
    {
        return table.members().stream().filter((member) -> member.isLive() && member.nodeId() > afterNodeId)
            .sorted(Comparator.comparingInt(Member::nodeId));
    }

    /** A spare has no service port: clients, also of older builds, send nothing to it. Newer ones may connect to it. */
    static PeerRecord record(final Member member, final long epoch)
    {
        final PeerRecord record = member.node().record().withEpoch(epoch);
        return member.isStandby() ? record.asSpare() : record;
    }
}
