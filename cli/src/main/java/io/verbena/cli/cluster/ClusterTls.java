package io.verbena.cli.cluster;

import io.verbena.certificates.CertificateAuthority;
import io.verbena.certificates.CertificateAuthority.Use;
import io.verbena.certificates.IssuedCertificate;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.protocol.tls.TlsSettings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * TLS of a cluster that {@code up} makes: an authority of its own, whose key is gone once it has issued the certificate
 * of the meta server, so that nobody can issue another one. The token file names the authority, and so everybody who
 * has that file asks for it.
 *
 * @param folder of the cluster.
 */
public record ClusterTls(ClusterFolder folder)
{
    /** Who copies a token file makes a new cluster, or copies it again, before that. */
    private static final Duration VALIDITY = Duration.ofDays(3_650);
    /** Clocks of other hosts may be behind. */
    private static final Duration EARLIER = Duration.ofDays(1);

    private Path certificate()
    {
        return folder.path().resolve("tls").resolve("meta-server.crt");
    }

    private Path key()
    {
        return folder.path().resolve("tls").resolve("meta-server.key");
    }

    private Path authority()
    {
        return folder.path().resolve("tls").resolve("ca.crt");
    }

    /** Whether the cluster has TLS, or has begun to get it. */
    boolean exists()
    {
        return Files.exists(key());
    }

    /**
     * Makes authority and certificate where there are none, and has the token file name the authority.
     *
     * @param now   time.
     * @param hosts names and addresses in the certificate, for clients that check them.
     */
    public void create(final Instant now, final List<String> hosts)
    {
        try
        {
            OwnerOnly.createFolder(folder.path());
            OwnerOnly.createFolder(key().getParent());
            if (!Files.exists(authority()))
            {
                final CertificateAuthority authority =
                    CertificateAuthority.create("Verbena cluster", now.minus(EARLIER), now.plus(VALIDITY));
                authority.issue("meta server", hosts, Use.SERVER, now.minus(EARLIER), now.plus(VALIDITY))
                    .write(certificate(), key());
                // Last: with it, all of them are there.
                IssuedCertificate.writeCertificates(authority(), List.of(authority.certificate()));
            }
            ClusterToken.name(folder.token(), TlsSettings.authority(authority()));
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE,
                "certificates of the cluster cannot be made in " + key().getParent() + ": " + FileErrors.reason(ex),
                ex);
        }
        catch (final BootstrapException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, ex.getMessage(), ex);
        }
    }

    /** What the meta server is started with. */
    List<String> options()
    {
        return exists() ? List.of(TlsSettings.CERTIFICATE_OPTION, certificate().toString(), TlsSettings.KEY_OPTION,
            key().toString()) : List.of();
    }
}
