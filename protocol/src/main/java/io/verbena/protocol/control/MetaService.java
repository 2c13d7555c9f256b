package io.verbena.protocol.control;

import io.verbena.protocol.access.User;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewPage;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;
import java.util.function.Supplier;

/**
 * What a meta server answers; {@link MetaDispatcher} decodes and encodes, and sees to it that each request acts for an
 * identity that its connection has. Called by the server's thread; answers at once, but for {@link #register},
 * {@link #awaitChange} and {@link #awaitNodes}. Says no by {@link ControlException}; any other exception reaches the
 * caller as a refusal.
 */
public interface MetaService
{
    /** Most identities of compute nodes that may come, which memory nodes hear of. */
    int MAX_SPARES = 64;
    /** Most lost memory nodes that compute nodes are asked to leave at a time. */
    int MAX_TO_LEAVE = 16;

    /**
     * Called for each request after it was received and before anything else. Of a group of meta servers only the
     * leader answers: what it grants afterwards began before its lease ended.
     *
     * @throws ControlException UNAVAILABLE, when this one does not lead now.
     */
    default void requireLeadership()
    {
    }

    /**
     * Registers a node, with a new incarnation. It is answered once that is durable: those that ask at one time share
     * one write to disk.
     *
     * @param request what the node says.
     * @param answer  puts the answer off, and gives it later; not asked for when the request is refused at once.
     */
    void register(NodeRegistration request, Supplier<PendingRegistration> answer);

    /**
     * Renews a lease.
     *
     * @param nodeId      of the node.
     * @param incarnation of its life.
     * @param passedEpoch every operation begun before this epoch was heard has ended.
     * @param wantsEpochs whether the node waits for epochs.
     * @param held        secrets that the node has.
     * @param memorySince of a memory node: the incarnation of it since which its memory has everything that was written
     *                    to it; 0: it does not say.
     * @param left        of a compute node: lost memory nodes that it has left, as it was asked to, with all earlier
     *                    incarnations of them; at most {@link #MAX_TO_LEAVE}.
     * @return epochs and the new lease, and secrets that it has not.
     */
    Heartbeat heartbeat(
        int nodeId, int incarnation, long passedEpoch, boolean wantsEpochs, HeldSecrets held, int memorySince,
        List<PeerIdentity> left);

    /**
     * @param identity for which a connection acts.
     * @return whether it may create, grow and drop tables: it is a compute node with a lease.
     */
    boolean mayChangeTables(PeerIdentity identity);

    /**
     * A node that rests would hear of news, which make its next heartbeat due: then it gets the answer. The lease is
     * not touched. Does not throw.
     *
     * @param request what it knows.
     * @param answer  given when there are news, or the node asks anew; not before this returns.
     */
    void awaitChange(NotificationRequest request, PendingNotification answer);

    /**
     * Somebody, who need not be a node, would hear when compute nodes come, go or are activated.
     *
     * @param answer puts the answer off, which is given behind the next such change; called once, or the request is
     *               refused as UNAVAILABLE, when too many wait.
     */
    void awaitNodes(Supplier<PendingNotification> answer);

    /**
     * Clients are sent to a spare from now on. Refused as UNKNOWN_NODE when this registration has no lease, as
     * INVALID_REQUEST when it is no compute node. The second time changes nothing.
     *
     * @param nodeId      of the compute node.
     * @param incarnation of its registration.
     */
    void activate(int nodeId, int incarnation);

    /**
     * A node leaves for good and will touch no memory any more.
     *
     * @param nodeId      of the node.
     * @param incarnation of its life.
     */
    void leave(int nodeId, int incarnation);

    /**
     * @param userNumber of the user for whom a table is about to be created, refused as OVER_QUOTA when there are as
     *                   many as it may have, before anything is done for it; 0: for none.
     * @return a table number never given before.
     */
    int allocateTableId(int userNumber);

    /**
     * Makes a table known.
     *
     * @param table       with a name not in use and a number from {@link #allocateTableId(int)}.
     * @param members     where its memory is, each as the caller is connected to it, and the caller: refused as
     *                    UNAVAILABLE when one of them has another incarnation by now, since its memory may have been
     *                    restored without the table, or when the caller was declared dead.
     * @param userNumber  as when its number was given.
     */
    void createTable(TableEntry table, List<PeerIdentity> members, int userNumber);

    /**
     * @param name of a table.
     * @return the table; never null.
     */
    TableEntry table(String name);

    /**
     * @param afterName names greater than this one, by the bytes of their UTF-8; empty for the first page.
     * @return a page that {@link MetaDispatcher} cuts to what fits; all names are fine.
     */
    TablePage tables(String afterName);

    /**
     * Forgets a table.
     *
     * @param name of the table.
     * @return what it was, so that its chunks can be returned.
     */
    TableEntry dropTable(String name);

    /**
     * Drops a table if it is still the same one; its memory comes back by sweeps. A table of that name with another
     * number, or none, is NO_SUCH_TABLE.
     *
     * @param table its name and number; its descriptor is not regarded.
     */
    void dropThisTable(TableEntry table);

    /**
     * Gives a memory node up for good. It is never admitted again, and no fence waits for it. Refused as
     * INVALID_REQUEST while the node has a lease, as UNKNOWN_NODE when there is no such memory node. The second time
     * changes nothing.
     *
     * @param nodeId   of the memory node.
     * @param isWanted false: only answers, or refuses, as if it were.
     * @return what the node was.
     */
    ForgottenNode forgetNode(int nodeId, boolean isWanted);

    /**
     * Replaces the descriptor of a table. Every node hears of a new version then, and asks for it.
     *
     * @param table            with the number it has.
     * @param expectedChecksum the last 8 bytes, little-endian, of the descriptor that is replaced: refused as
     *                         UNAVAILABLE when somebody else has replaced that one.
     * @param memoryNodes      where what is named newly is, see {@link #createTable}.
     */
    void growTable(TableEntry table, long expectedChecksum, List<PeerIdentity> memoryNodes);

    /**
     * Lists the users.
     *
     * @param afterName    users with names greater than this one; empty for the first page.
     * @param knownVersion of the list that the caller has; -1 for none.
     * @return a page that {@link MetaDispatcher} cuts to what fits; all users are fine.
     */
    UserPage users(String afterName, long knownVersion);

    /**
     * Makes a user known, or changes it. Every node hears of a new version then, and asks for the list.
     *
     * @param user its revision is that of the user that it changes, 0 for a new one: another one is UNAVAILABLE. Number
     *             and generation are given here. Without a verifier the secret stays.
     * @return the user as it is now, without its verifier.
     */
    User putUser(User user);

    /**
     * Forgets a user; one that there is not is INVALID_REQUEST.
     *
     * @param name of it.
     */
    void removeUser(String name);

    /**
     * @param after fingerprints greater than its; null for the first page.
     * @return a page that {@link MetaDispatcher} cuts to what fits; all are fine.
     */
    default RevocationPage revocations(final RevokedCertificate after)
    {
        return new RevocationPage(List.of(), false);
    }

    /**
     * Takes a certificate from nobody any more, and renews no lease of a node that has joined by it; or takes it
     * again. INVALID_REQUEST when it was so before.
     *
     * @param certificate which.
     * @param isRevoked   whether it is revoked from now on.
     */
    default void revoke(final RevokedCertificate certificate, final boolean isRevoked)
    {
        throw new ControlException(ControlStatus.INVALID_REQUEST, "no certificates here");
    }

    /**
     * @param certificate number of one.
     * @return whether it is revoked.
     */
    default boolean isRevoked(final int certificate)
    {
        return false;
    }

    /**
     * A compute node reports which views it has left, and asks for the views of all groups.
     *
     * @param node       who, with a lease.
     * @param left       the newest view of each group that it has left.
     * @param afterGroup groups with greater numbers than this; 0 for the first page.
     * @return a page that {@link MetaDispatcher} cuts to what fits; all groups are fine.
     */
    ViewPage views(PeerIdentity node, List<LeftView> left, int afterGroup);

    /**
     * What became of an attempt to make the copies of a group equal. Of another node than the one named, late, or
     * repeated it changes nothing.
     *
     * @param node     who, with a lease; nothing of it is under way any more.
     * @param attempt  for which it was named.
     * @param areEqual whether the copies are; false: it does not know what became of a request of its own.
     */
    void onReconciled(PeerIdentity node, ViewAttempt attempt, boolean areEqual);

    /**
     * What a memory node has restored of groups that it was a member of with memory that is gone. To be repeated, since
     * it is not durable.
     *
     * @param memoryNode under its present registration.
     * @param restored   of each group; of those that are not among them nothing is known from this message.
     */
    void onRestored(PeerIdentity memoryNode, List<RestoredGroup> restored);

    /**
     * How far a memory node is filled. Of another node than the one named, or late, it changes nothing.
     *
     * @param node     who, with a lease.
     * @param progress of the attempt for which it was named.
     */
    void onFill(PeerIdentity node, FillProgress progress);

    /** @return how far memory nodes are filled, as was reported last: by ascending group, nothing of it durable. */
    List<FillProgress> fills();

    /**
     * Makes a group of memory nodes that keep the same tables. Where there is one with these members in this order
     * whose view is active, it is that one. Refused as INVALID_REQUEST when one of them is no memory node, as
     * UNAVAILABLE when one has no lease, as EXHAUSTED when there are no more numbers.
     *
     * @param nodeIds head first and primary last.
     * @return its view, durable.
     */
    View makeGroup(List<Integer> nodeIds);

    /**
     * Has a memory node come into a group: the memory is copied while its view is active, then that is closed, and the
     * next view has it as one more member, if nobody is lost meanwhile. Refused as INVALID_REQUEST when there is no
     * such group or memory node or the group has all its members, as UNKNOWN_NODE when the memory node has no lease, as
     * UNAVAILABLE while the group changes.
     *
     * @param group  which.
     * @param nodeId of a memory node.
     * @return the group's view, durable: with that memory node coming in.
     */
    View enterGroup(int group, int nodeId);

    /**
     * Which memory nodes that live have a label of a failure domain.
     *
     * @param afterNodeId memory nodes with greater ids than this; 0 for the first page.
     * @return a page that {@link MetaDispatcher} cuts to what fits; all of them are fine.
     */
    default FailureDomainPage failureDomains(final int afterNodeId)
    {
        return new FailureDomainPage(List.of(), false);
    }

    /** @return whether nodes and operators prove to have the cluster's secret: then nobody else may act as one. */
    boolean isGuarded();

    /** @return whether a connection needs a certificate that names the role in which it registers or changes things. */
    default boolean bindsRoles()
    {
        return false;
    }

    /**
     * Hears of a request that was carried out and changed tables, users, or gave a node up; does not throw.
     *
     * @param caller  who asked: the node for which the connection acts, or what the connection proved.
     * @param method  what was asked for, such as {@code dropTable}.
     * @param subject what it was about, such as the name of a table.
     */
    void onChanged(PeerIdentity caller, String method, String subject);

    /**
     * Hears of what a compute node has denied; does not throw.
     *
     * @param node   which reports it.
     * @param denied by it.
     */
    default void onDenied(final PeerIdentity node, final List<DeniedOperations> denied)
    {
        // Nothing is kept.
    }

    /**
     * Hears of a request that was refused because of who made it; does not throw.
     *
     * @param caller what its connection proved.
     * @param why    one line.
     */
    void onForbidden(PeerIdentity caller, String why);

    /**
     * @param afterNodeId nodes with numbers greater than this; 0 for the first page.
     * @return a page that {@link MetaDispatcher} cuts to what fits; all nodes are fine.
     */
    NodePage nodes(int afterNodeId);
}
