package io.verbena.cli.admin;

import io.verbena.certificates.CertificateAuthority;
import io.verbena.certificates.CertificateAuthority.Use;
import io.verbena.certificates.IssuedCertificate;
import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.server.MetaServerRole;
import io.verbena.server.RoleRunner;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** {@code certificate revoke}, {@code restore} and {@code list}, as an operator types them. */
@Timeout(300)
class CertificateCommandTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final Instant NOW = Instant.now();
    private static final CertificateAuthority AUTHORITY = CertificateAuthority.create(
        "authority", NOW.minus(Duration.ofDays(1)), NOW.plus(Duration.ofDays(1)));

    @TempDir
    private Path folder;
    private Fabric fabric;
    private MetaServerRole meta;
    private RoleRunner runner;

    @BeforeEach
    void open() throws IOException
    {
        IssuedCertificate.writeCertificates(folder.resolve("ca.crt"), List.of(AUTHORITY.certificate()));
        issue("meta", Use.SERVER, "127.0.0.1", "verbena:role/meta");
        issue("operator", Use.CLIENT, "verbena:role/operator");
        issue("compute", Use.CLIENT, "verbena:role/compute");
        final String fabricName = "soft:" + folder.resolve("fabric");
        fabric = Fabrics.open(fabricName);
        final ClusterToken token = ClusterToken.readOrCreate(folder.resolve("token"));
        meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress("127.0.0.1", 0), token.with(
            TlsSettings.ofServer(folder.resolve("meta.crt"), folder.resolve("meta.key"), folder.resolve("ca.crt"))),
            folder.resolve("data"), true, new MetaServerConfiguration());
        runner = RoleRunner.start(meta, false);
        assertThat(runner.awaitReady(STEP_NS)).isTrue();
    }

    @AfterEach
    void close()
    {
        runner.stop();
        assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        fabric.close();
    }

    private void issue(final String name, final Use use, final String... names) throws IOException
    {
        AUTHORITY.issue(name, List.of(names), use, NOW.minus(Duration.ofDays(1)), NOW.plus(Duration.ofDays(1)))
            .write(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
    }

    private String file(final String name)
    {
        return folder.resolve(name).toString();
    }

    private void expect(final int status, final String text, final String by, final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of("certificate"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--cluster", meta.address().toString(), "--token-file", file("token"), "--tls-ca",
            file("ca.crt"), "--tls-cert", file(by + ".crt"), "--tls-key", file(by + ".key"), "--timeout-ms", "30000"));
        final CommandLines.Result result = CommandLines.run(all);
        assertThat(result.status()).as("%s: %s%s", all, result.out(), result.err()).isEqualTo(status);
        assertThat(result.err()).hasLineCount(ExitStatus.OK == status ? 0 : 1);
        if (ExitStatus.OK == status)
        {
            assertThat(result.out()).isEqualTo(text);
        }
        else
        {
            assertThat(result.err()).contains(text);
        }
    }

    private String digits(final String name)
    {
        return new RevokedCertificate(RevokedCertificate.fingerprint(
            TlsSettings.certificate(folder.resolve(name + ".crt"))), "").digits();
    }

    @Test
    void shouldRevokeRestoreAndListByFileAndByNumber() throws IOException
    {
        expect(ExitStatus.OK, "", "operator", "list");
        expect(ExitStatus.OK, "", "operator", "revoke", file("compute.crt"));
        expect(ExitStatus.OK, digits("compute") + " CN=compute\n", "operator", "list");
        expect(ExitStatus.FAILED, "certificate " + digits("compute") + " was revoked before", "operator", "revoke",
            digits("compute"));
        expect(ExitStatus.USAGE, "was revoked: issue another one", "compute", "list");
        expect(ExitStatus.OK, "", "operator", "restore", digits("compute"));
        expect(ExitStatus.OK, "", "operator", "list");
        expect(ExitStatus.FAILED, "certificate " + digits("compute") + " was not revoked", "operator", "restore",
            file("compute.crt"));
        final String unknown = "5d".repeat(32);
        expect(ExitStatus.OK, "", "operator", "revoke", "sha256:" + unknown.toUpperCase(Locale.ROOT));
        expect(ExitStatus.OK, unknown + "\n", "operator", "list");
        assertThat(Files.readString(folder.resolve("data/audit.jsonl"))).contains(
            "\"revokeCertificate\"", "\"restoreCertificate\"", digits("compute") + " CN=compute");
    }

    @Test
    void shouldRefuseWhatIsNoCertificateOfANodeAndWhoIsNoOperator() throws IOException
    {
        expect(ExitStatus.USAGE, "is that of an authority: revoke those that it has issued", "operator", "revoke",
            file("ca.crt"));
        expect(ExitStatus.USAGE, "CERTIFICATE 12ab is no number of 64 hexadecimal digits, and no file of that " +
            "name can be read", "operator", "revoke", "12ab");
        final Path text = Files.writeString(folder.resolve("text"), "no certificate\n");
        expect(ExitStatus.USAGE, "is no number of 64 hexadecimal digits, and " + text, "operator", "revoke",
            text.toString());
        expect(ExitStatus.NO_PERMISSION, "--user ann: this takes the cluster's token, not a user", "operator", "list",
            "--user", "ann");
        expect(ExitStatus.UNAVAILABLE, "it takes a certificate with verbena:role/operator", "compute", "revoke",
            file("operator.crt"));
        expect(ExitStatus.OK, "", "operator", "list");
    }
}
