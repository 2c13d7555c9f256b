package io.verbena.protocol.tls;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** As what the holder of a certificate may act: it names each role by a URI, {@code verbena:role/compute} say. */
public enum CertificateRole
{
    /** Be the meta server. */
    META(1),
    /** Register a memory node. */
    MEMORY(2),
    /** Register a compute node. */
    COMPUTE(4),
    /** Log in as a user. */
    CLIENT(8),
    /** Change users, give up nodes, and whatever a client may. */
    OPERATOR(16);

    /** How the URI of a role begins, among the alternative names of the subject. */
    public static final String URI_PREFIX = "verbena:role/";
    /** All of them. */
    public static final int ALL = 31;
    private static final int URI_TYPE = 6;

    private final int bit;

    CertificateRole(final int bit)
    {
        this.bit = bit;
    }

    /** @return of the set that is kept as a number. */
    public int bit()
    {
        return bit;
    }

    /** @return whether a set has it. */
    public boolean isIn(final int roles)
    {
        return 0 != (roles & bit);
    }

    /** @return the URI of the role. */
    public String uri()
    {
        return URI_PREFIX + name().toLowerCase(Locale.ROOT);
    }

    /**
     * @param certificate of a peer or of this side.
     * @return the set of roles that it names; 0: none. What begins as a role and is none counts for nothing.
     */
    public static int of(final X509Certificate certificate)
    {
        int roles = 0;
        for (final List<?> name : names(certificate))
        {
            for (final CertificateRole role : values())
            {
                if (Integer.valueOf(URI_TYPE).equals(name.get(0)) && role.uri().equals(name.get(1)))
                {
                    roles |= role.bit;
                }
            }
        }
        return roles;
    }

    private static Collection<List<?>> names(final X509Certificate certificate)
    {
        try
        {
            final Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            return null == names ? List.of() : names;
        }
        catch (final CertificateParsingException ex)
        {
            return List.of();
        }
    }

    /** @return for people, such as {@code memory,compute}; {@code none} for an empty set. */
    public static String text(final int roles)
    {
        return 0 == roles ? "none" : Arrays.stream(values()).filter((role) -> role.isIn(roles))
            .map((role) -> role.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(","));
    }
}
