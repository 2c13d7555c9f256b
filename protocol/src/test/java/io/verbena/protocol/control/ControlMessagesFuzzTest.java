package io.verbena.protocol.control;

import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.EnterLeaseDescriptor;
import io.verbena.protocol.view.FailureDomainPageDescriptor;
import io.verbena.protocol.view.GroupDescriptor;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.FillProgressDescriptor;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.RestoredGroupsDescriptor;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.LeftViewsDescriptor;
import io.verbena.protocol.view.PageChecksumsDescriptor;
import io.verbena.protocol.view.RegionKeyDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewAttemptDescriptor;
import io.verbena.protocol.view.ViewDescriptor;
import io.verbena.protocol.view.ViewPage;
import io.verbena.protocol.view.ViewPageDescriptor;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.MessageFuzzer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;

/** What servers make of requests, and callers of replies, that somebody has changed. */
class ControlMessagesFuzzTest
{
    private static final TableEntry TABLE = new TableEntry("orders", 5, new byte[]{1, 2, 3, 4, 5, 6, 7, 8, 9});
    private static final IdentitySecret SECRET = IdentitySecret.random(new SecureRandom());
    private static final List<AdmissionToken> TOKENS =
        List.of(new AdmissionToken(5, 6, 2, SECRET), new AdmissionToken(7, 8, 2, SECRET));
    private static final RegistrationSecret RENEWED = new RegistrationSecret(3, SECRET, SECRET);
    private static final List<PeerIdentity> SPARES = List.of(new PeerIdentity(8, 9));

    private final MessageFuzzer fuzzer = new MessageFuzzer(20, ControlException.class);
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[4_096]);

    private void fuzz(
        final String what, final ToIntFunction<UnsafeBuffer> encoder, final MessageFuzzer.Decoder decoder)
    {
        fuzzer.fuzz(what, Arrays.copyOf(buffer.byteArray(), encoder.applyAsInt(buffer)), decoder);
    }

    @Test
    void shouldReadOrRefuseFailureDomains()
    {
        fuzz("request", (to) -> FailureDomainPageDescriptor.encodeRequest(3, to, 0),
            FailureDomainPageDescriptor::decodeRequest);
        fuzz("page", (to) -> FailureDomainPageDescriptor.encode(new FailureDomainPage(
            List.of(new FailureDomain(3, "rack-1"), new FailureDomain(4, "rack-2")), true), to, 0),
            FailureDomainPageDescriptor::decode);
    }

    @Test
    void shouldReadOrRefuseRequestsToTheMetaServer()
    {
        fuzz("register", (to) -> RegisterDescriptor.encodeRequest(new NodeRegistration(
            3, NodeRole.MEMORY_NODE, new DeviceAddress(1, 2, 3), 4_000, new RemoteRegion(1, 2, 3)), to, 0),
            RegisterDescriptor::decodeRequest);
        fuzz("register in a failure domain", (to) -> RegisterDescriptor.encodeRequest(new NodeRegistration(
            3, NodeRole.MEMORY_NODE, new DeviceAddress(1, 2, 3), 4_000, new RemoteRegion(1, 2, 3))
            .inFailureDomain("rack-1"), to, 0), RegisterDescriptor::decodeRequest);
        fuzz("heartbeat", (to) -> HeartbeatDescriptor.encodeRequest(
            3, 9, 2, true, new HeldSecrets(3, 2, 8), 6, SPARES, to, 0),
            (message, offset, lengthBytes) ->
            {
                HeartbeatDescriptor.requireRequest(lengthBytes);
                HeartbeatDescriptor.nodeId(message, offset);
                HeartbeatDescriptor.incarnation(message, offset);
                HeartbeatDescriptor.passedEpoch(message, offset);
                HeartbeatDescriptor.wantsEpochs(message, offset);
                HeartbeatDescriptor.held(message, offset);
                HeartbeatDescriptor.left(message, offset, lengthBytes);
                HeartbeatDescriptor.memorySince(message, offset);
            });
        fuzz("identity", (to) -> IdentityDescriptor.encode(new PeerIdentity(3, 4), to, 0), IdentityDescriptor::decode);
        fuzz("news", (to) -> NotificationDescriptor.encode(new NotificationRequest(3, 9, 1, 2), to, 0),
            NotificationDescriptor::decode);
        fuzz("nodes", (to) -> NodesDescriptor.encodeRequest(3, to, 0), NodesDescriptor::decodeRequest);
        fuzz("forget", (to) -> ForgetNodeDescriptor.encodeRequest(3, true, to, 0), (message, offset, lengthBytes) ->
        {
            ForgetNodeDescriptor.requireRequest(lengthBytes);
            ForgetNodeDescriptor.nodeId(message, offset);
            ForgetNodeDescriptor.isWanted(message, offset);
        });
    }

    @Test
    void shouldReadOrRefuseTables()
    {
        fuzz("name", (to) -> TableNameDescriptor.encode("orders", to, 0), TableNameDescriptor::decode);
        fuzz("entry", (to) -> TableEntryDescriptor.encode(TABLE, to, 0), TableEntryDescriptor::decode);
        fuzz("id", (to) -> TableIdDescriptor.encode(5, to, 0), TableIdDescriptor::decode);
        fuzz("names", (to) -> TablesDescriptor.encode(new TablePage(List.of("a", "bc", "d"), true), to, 0),
            TablesDescriptor::decode);
        fuzz("publication", (to) -> TablePublicationDescriptor.encode(
            TABLE, 5, List.of(new PeerIdentity(1, 2), new PeerIdentity(3, 4)), 6, to, 0),
            (message, offset, lengthBytes) ->
            {
                TablePublicationDescriptor.table(message, offset, lengthBytes);
                TablePublicationDescriptor.expectedChecksum(message, offset, lengthBytes);
                TablePublicationDescriptor.memoryNodes(message, offset, lengthBytes);
                TablePublicationDescriptor.userNumber(message, offset, lengthBytes);
            });
    }

    @Test
    void shouldReadOrRefuseUsers()
    {
        final User ann = new User("ann", 1, 2, 3, SecretVerifier.ofNobody(new byte[32], "ann"),
            List.of(new Grant("orders", 3, new byte[]{1})), new UserQuota(5, 6, 7, 8, 9));
        fuzz("users request", (to) -> UsersDescriptor.encodeRequest("ann", 7, to, 0), (message, offset, lengthBytes) ->
        {
            UsersDescriptor.name(message, offset, lengthBytes);
            UsersDescriptor.knownVersion(message, offset);
        });
        fuzz("users", (to) -> UsersDescriptor.encodeReply(
            new UserPage(7, false, List.of(ann, ann.withoutVerifier(), ann), true), to, 0),
            UsersDescriptor::decodeReply);
        fuzz("denials", (to) -> DenialsDescriptor.encode(List.of(new DeniedOperations("user ann", "GET in table t", 3),
            new DeniedOperations("", "", Long.MAX_VALUE)), to, 0), DenialsDescriptor::decode);
        fuzz("revocations", (to) -> RevocationsDescriptor.encode(new RevocationPage(
            List.of(new RevokedCertificate(new byte[32], "CN=compute-1"), new RevokedCertificate(new byte[32], "")),
            true), to, 0), RevocationsDescriptor::decode);
        fuzz("revocation", (to) -> RevocationsDescriptor.encode(new RevocationPage(
            List.of(new RevokedCertificate(new byte[32], "CN=compute-1")), false), to, 0),
            RevocationsDescriptor::one);
        fuzz("user", (to) -> UsersDescriptor.encodeUser(ann, to, 0), UsersDescriptor::decodeUser);
    }

    @Test
    void shouldReadOrRefuseReplies()
    {
        fuzz("registration", (to) -> RegisterDescriptor.encodeReply(
            new Registration(3, 9, 4, 100, 97, 12, 5, 6, RENEWED, TOKENS, SPARES), to, 0),
            RegisterDescriptor::decodeReply);
        fuzz("heartbeat",
            (to) -> HeartbeatDescriptor.encodeReply(
                new Heartbeat(100, 97, 12, 1, TOKENS, SPARES, RENEWED, SPARES), to, 0),
            HeartbeatDescriptor::decodeReply);
        fuzz("forgotten", (to) -> ForgetNodeDescriptor.encodeReply(new ForgottenNode(3, 9, 5, true), to, 0),
            ForgetNodeDescriptor::decodeReply);
        fuzz("nodes", (to) -> NodesDescriptor.encodeReply(new NodePage(8, List.of(
            new PeerRecord(1, 1, 2, NodeRole.MEMORY_NODE, new DeviceAddress(1, 2), 4_000, new RemoteRegion(1, 1, 1)),
            new PeerRecord(2, 1, 2, NodeRole.COMPUTE_NODE, new DeviceAddress(1, 3), 4_000, new RemoteRegion(0, 0, 0))),
            false), to, 0), NodesDescriptor::decodeReply);
        fuzz("refusal", (to) -> ControlHeaderDescriptor.encodeFailure(
            to, 0, 4_096, new ControlException(ControlStatus.UNAVAILABLE, "later")), (message, offset, lengthBytes) ->
        {
            ControlHeaderDescriptor.require(lengthBytes, ControlHeaderDescriptor.LENGTH_BYTES, "reply");
            ControlHeaderDescriptor.version(message, offset);
            ControlHeaderDescriptor.status(message, offset);
            ControlHeaderDescriptor.retryDelayNs(message, offset);
            ControlHeaderDescriptor.text(message, offset, lengthBytes);
        });
    }

    @Test
    void shouldReadOrRefuseWhatMemoryNodesAreAsked()
    {
        fuzz("lease", (to) -> LeaseRequestDescriptor.encode(7, ChunkPurpose.INDEX, 3, true, to, 0),
            (message, offset, lengthBytes) ->
            {
                LeaseRequestDescriptor.require(lengthBytes);
                LeaseRequestDescriptor.requestId(message, offset);
                LeaseRequestDescriptor.purpose(message, offset);
                LeaseRequestDescriptor.chunkCount(message, offset);
                LeaseRequestDescriptor.isContiguous(message, offset);
            });
        fuzz("mirror", (to) -> MirrorChunkDescriptor.encodeRequest(
            MirrorAction.RECORD, new MirroredChunk(1, 2, 3, 65_536, 4), ChunkPurpose.BLOCKS, 5, to, 0),
            (message, offset, lengthBytes) ->
            {
                MirrorChunkDescriptor.requireRequest(lengthBytes);
                MirrorChunkDescriptor.action(message, offset);
                MirrorChunkDescriptor.chunk(message, offset);
                MirrorChunkDescriptor.purpose(message, offset);
                MirrorChunkDescriptor.requestId(message, offset);
            });
        final ViewAttempt attempt = new ViewAttempt(1, 3, 2);
        final EnteredLease entered = new EnteredLease(new MirroredChunk(1, 2, 3, 65_536, 4), EnteredLease.ORPHAN, 0,
            new PeerIdentity(5, 6), new PeerIdentity(7, 8));
        for (final boolean isRelease : List.of(true, false))
        {
            fuzz("enter", (to) -> isRelease ? EnterLeaseDescriptor.encodeRelease(attempt, to, 0) :
                EnterLeaseDescriptor.encodeRecord(attempt, entered, to, 0), (message, offset, lengthBytes) ->
            {
                EnterLeaseDescriptor.attempt(message, offset, lengthBytes);
                if (!EnterLeaseDescriptor.isRelease(message, offset))
                {
                    EnterLeaseDescriptor.lease(message, offset);
                }
            });
        }
        fuzz("pages", (to) -> PageChecksumsDescriptor.encodeRequest(8_192, 5_000, 77, to, 0),
            (message, offset, lengthBytes) ->
            {
                PageChecksumsDescriptor.require(message, offset, lengthBytes);
                PageChecksumsDescriptor.rangeOffset(message, offset);
                PageChecksumsDescriptor.rangeLengthBytes(message, offset);
                PageChecksumsDescriptor.seed(message, offset);
            });
        fuzz("checksums", (to) -> PageChecksumsDescriptor.encodeReply(new long[]{1, 2, 3, 4}, 2, to, 0),
            (message, offset, lengthBytes) -> PageChecksumsDescriptor.decodeReply(2, message, offset, lengthBytes));
        fuzz("mirrored", (to) -> MirrorChunkDescriptor.encodeReply(
            new MirrorAnswer(MirrorAnswer.Outcome.DONE, 3, 4), to, 0), MirrorChunkDescriptor::decodeReply);
        fuzz("runs", (to) -> ChunkRunsDescriptor.encode(
            65_536, 7, List.of(new ChunkRun(0, 7), new ChunkRun(1L << 32, 1)), to, 0), ChunkRunsDescriptor::decode);
        fuzz("stat", (to) -> StatDescriptor.encode(new MemoryNodeStat(1, 1, 2, 3, 4, 5, 6), to, 0),
            StatDescriptor::decode);
    }

    @Test
    void shouldReadOrRefuseViews()
    {
        final View view = View.first(7, List.of(new PeerIdentity(1, 4), new PeerIdentity(2, 5), new PeerIdentity(3, 6)))
            .closing(2, new PeerIdentity(9, 8));
        fuzz("view", (to) -> ViewDescriptor.encode(view, to, 0), ViewDescriptor::decode);
        final View entering = View.first(7, view.members()).filling(new PeerIdentity(7, 1), new PeerIdentity(9, 8));
        fuzz("entering", (to) -> ViewDescriptor.encode(entering, to, 0), ViewDescriptor::decode);
        fuzz("fills", (to) -> FillProgressDescriptor.encode(List.of(new FillProgress(
            ViewAttempt.of(entering), 1, 2, 3, 4, 1, FillProgress.UNKNOWN)), to, 0), FillProgressDescriptor::decodeOne);
        fuzz("restored groups", (to) -> RestoredGroupsDescriptor.encode(
            new PeerIdentity(1, 4), List.of(new RestoredGroup(7, 1, 2, 3, false)), to, 0),
            (message, offset, lengthBytes) ->
            {
                RestoredGroupsDescriptor.memoryNode(message, offset, lengthBytes);
                RestoredGroupsDescriptor.decode(message, offset, lengthBytes);
            });
        fuzz("views", (to) -> ViewPageDescriptor.encode(
            new ViewPage(List.of(view, view.reconciling()), true), to, 0), ViewPageDescriptor::decode);
        fuzz("left", (to) -> LeftViewsDescriptor.encode(
            List.of(new LeftView(7, 1), new LeftView(8, 0)), 3, to, 0), (message, offset, lengthBytes) ->
            {
                LeftViewsDescriptor.decode(message, offset, lengthBytes);
                LeftViewsDescriptor.afterGroup(message, offset);
            });
        fuzz("attempt", (to) -> ViewAttemptDescriptor.encode(ViewAttempt.of(view), true, to, 0),
            (message, offset, lengthBytes) ->
            {
                ViewAttemptDescriptor.decode(message, offset, lengthBytes);
                ViewAttemptDescriptor.areEqual(message, offset);
            });
        fuzz("group", (to) -> GroupDescriptor.encode(0, List.of(5, 6, 4), to, 0),
            (message, offset, lengthBytes) ->
            {
                GroupDescriptor.decode(message, offset, lengthBytes);
                GroupDescriptor.group(message, offset);
            });
        fuzz("enter", (to) -> GroupDescriptor.encode(7, List.of(4), to, 0), GroupDescriptor::entering);
        fuzz("key", (to) -> RegionKeyDescriptor.encode(new RemoteRegion(1, 2, 3), to, 0),
            RegionKeyDescriptor::decode);
    }
}
