package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClientOptions;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.tls.TlsException;
import io.verbena.protocol.tls.TlsSettings;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Map;

/** TLS of who asks a cluster: nodes and clients. */
public final class TlsOptions
{
    /** None: the token file says whether there is TLS. */
    public static final TlsOptions NONE = new TlsOptions();

    @Option(names = TlsSettings.AUTHORITIES_OPTION, paramLabel = "FILE",
        description = "Authorities of the meta server, PEM. Default: that of the token file.")
    private Path authorities;

    @Option(names = TlsSettings.CERTIFICATE_OPTION, paramLabel = "FILE",
        description = "Own certificate, PEM, where one is asked for.")
    private Path certificate;

    @Option(names = TlsSettings.KEY_OPTION, paramLabel = "FILE",
        description = "Its private key, PKCS#8, mode 0600.")
    private Path key;

    /**
     * @param token of the cluster, as its file has it.
     * @return the same with TLS as these options say.
     */
    public ClusterToken secure(final ClusterToken token)
    {
        try
        {
            return token.with(TlsSettings.ofPeer(token.tls(), authorities, certificate, key));
        }
        catch (final TlsException ex)
        {
            throw failed(ex);
        }
    }

    /** @return those of a process that has these files; each may be null. */
    static TlsOptions of(final Path authorities, final Path certificate, final Path key)
    {
        final TlsOptions options = new TlsOptions();
        options.authorities = authorities;
        options.certificate = certificate;
        options.key = key;
        return options;
    }

    /** Takes the files of others where none was given. */
    public void useWhereNoneIsGiven(final TlsOptions others)
    {
        if (null == authorities && null == certificate && null == key)
        {
            authorities = others.authorities;
            certificate = others.certificate;
            key = others.key;
        }
    }

    /** Of a client. */
    public KvClientOptions secure(final KvClientOptions options)
    {
        return options.tls(authorities, certificate, key);
    }

    /** Adds these as settings of further commands, by names of environment variables. */
    public void settings(final Map<String, String> settings)
    {
        settings.put(KvClientOptions.TLS_CA_VARIABLE, null == authorities ? null : authorities.toString());
        settings.put(KvClientOptions.TLS_CERT_VARIABLE, null == certificate ? null : certificate.toString());
        settings.put(KvClientOptions.TLS_KEY_VARIABLE, null == key ? null : key.toString());
    }

    static CommandFailedException failed(final TlsException ex)
    {
        return new CommandFailedException(ExitStatus.USAGE, ex.getMessage(), ex);
    }

    @Override
    public String toString()
    {
        return "TlsOptions{authorities=" + authorities + ", certificate=" + certificate + ", key=" + key + '}';
    }
}
