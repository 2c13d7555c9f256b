package io.verbena.meta.raft;

import io.verbena.certificates.CertificateAuthority;
import io.verbena.certificates.IssuedCertificate;

import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.thirdparty.io.netty.handler.ssl.SslProvider;
import org.apache.ratis.util.TimeDuration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.security.PublicKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Who reaches the port of a member and does not have the group's secret gets nothing there, and takes nobody in. */
@Timeout(120)
class MemberTlsTest
{
    private static final UUID ID = new UUID(1, 2);
    private static final GroupKey KEY = new GroupKey(ID, new byte[16]);
    private static final GroupKey OTHER = new GroupKey(ID, new byte[]{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7});
    private static final Instant UNTIL = Instant.parse("2099-01-01T00:00:00Z");

    @TempDir
    private Path directory;
    private TestMembers members;

    @BeforeEach
    void start()
    {
        members = new TestMembers(directory, 3);
        for (int place = 1; place <= TestMembers.MEMBERS; place++)
        {
            members.start(place, true);
        }
    }

    @AfterEach
    void close()
    {
        members.close();
    }

    private static IssuedCertificate certificate(final Function<PublicKey, String> name)
    {
        return CertificateAuthority.selfSigned(name, Instant.EPOCH, UNTIL);
    }

    /** Asks a member, as the commands do; null parameters: in clear. */
    private String ask(final Parameters parameters) throws Exception
    {
        final RaftPeer peer =
            RaftPeer.newBuilder().setId("any").setAddress(members.addresses().getFirst()).build();
        final RaftGroupId id = RaftGroupId.valueOf(ID);
        final RaftProperties properties = new RaftProperties();
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, TimeDuration.valueOf(5, TimeUnit.SECONDS));
        final RaftClient.Builder builder = RaftClient.newBuilder().setProperties(properties)
            .setRaftGroup(RaftGroup.valueOf(id, peer)).setLeaderId(peer.getId())
            .setRetryPolicy(RetryPolicies.noRetry());
        if (null != parameters)
        {
            builder.setParameters(parameters);
        }
        try (RaftClient client = builder.build())
        {
            return client.getGroupManagementApi(peer.getId()).info(id).getRoleInfoProto().getSelf().getId()
                .toStringUtf8();
        }
    }

    private static Parameters with(final IssuedCertificate certificate)
    {
        final Parameters parameters = new Parameters();
        GrpcConfigKeys.TLS.setConf(parameters, MemberTls.configuration(certificate, new MemberTls.MemberTrust(KEY)));
        return parameters;
    }

    private static Parameters withoutCertificate()
    {
        final Parameters parameters = new Parameters();
        final GrpcTlsConfig.Builder builder = GrpcTlsConfig.newBuilder();
        builder.setTrustManager(new MemberTls.MemberTrust(KEY));
        builder.setMutualTls(false);
        builder.setSslProvider(SslProvider.JDK);
        GrpcConfigKeys.TLS.setConf(parameters, builder.build());
        return parameters;
    }

    @Test
    void shouldAnswerWhoHasTheSecret() throws Exception
    {
        assertThat(ask(MemberTls.parameters(TestMembers.GROUP))).isEqualTo("meta-1");
    }

    @Test
    void shouldRefuseWhoeverHasNot() throws Exception
    {
        assertThatThrownBy(() -> ask(null)).as("in clear").isInstanceOf(Exception.class);
        assertThatThrownBy(() -> ask(withoutCertificate())).as("no certificate").isInstanceOf(Exception.class);
        assertThatThrownBy(() -> ask(MemberTls.parameters(OTHER))).as("another secret").isInstanceOf(Exception.class);
        assertThatThrownBy(() -> ask(with(certificate(OTHER::voucher)))).as("another secret's name")
            .isInstanceOf(Exception.class);
        assertThatThrownBy(() -> ask(with(certificate((key) -> "meta-2")))).as("a name").isInstanceOf(Exception.class);
        // Of the certificate of a member, seen on the way: it vouches for that member's key.
        final IssuedCertificate stolen = certificate(TestMembers.GROUP::voucher);
        assertThatThrownBy(() -> ask(with(certificate(
            (_) -> TestMembers.GROUP.voucher(stolen.chain().getFirst().getPublicKey())))))
            .as("somebody else's name").isInstanceOf(Exception.class);
        assertThatThrownBy(() -> ask(with(new IssuedCertificate(stolen.chain(), certificate((_) -> "x").key()))))
            .as("somebody else's certificate").isInstanceOf(Exception.class);
        assertThat(ask(with(certificate(KEY::voucher)))).as("it is there, and answers").isEqualTo("meta-1");
    }

    @Test
    void shouldTakeOnlyMembersForMembers()
    {
        final MemberTls.MemberTrust trust = new MemberTls.MemberTrust(KEY);
        final X509Certificate[] own = chain(certificate(KEY::voucher));
        assertThatCode(() -> trust.checkServerTrusted(own, "")).doesNotThrowAnyException();
        for (final X509Certificate[] wrong : List.of(
            chain(certificate(OTHER::voucher)), chain(certificate((_) -> "meta-1")),
            chain(certificate((key) -> KEY.voucher(key).substring(1))),
            // What counts is the first one, whose key the handshake shows.
            new X509Certificate[]{chain(certificate((_) -> "meta-1"))[0], own[0]}))
        {
            assertThatThrownBy(() -> trust.checkServerTrusted(wrong, "")).isInstanceOf(CertificateException.class);
            assertThatThrownBy(() -> trust.checkClientTrusted(wrong, "")).isInstanceOf(CertificateException.class);
        }
    }

    private static X509Certificate[] chain(final IssuedCertificate certificate)
    {
        return certificate.chain().toArray(X509Certificate[]::new);
    }

    @Test
    void shouldSayNothingOfTheSecret()
    {
        assertThat(new GroupKey(ID, "0123456789abcdef".getBytes()).toString()).isEqualTo("GroupKey{" + ID + '}');
        assertThatThrownBy(() -> new GroupKey(ID, new byte[15])).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("15 bytes");
    }
}
