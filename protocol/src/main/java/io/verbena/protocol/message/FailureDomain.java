package io.verbena.protocol.message;

import java.util.regex.Pattern;

/**
 * What a memory node shares with others that are lost together with it: a host, a rack, a zone.
 *
 * @param nodeId of a memory node.
 * @param label  of its failure domain, which is not {@link #NONE}.
 */
public record FailureDomain(int nodeId, String label)
{
    /** Of a memory node that is a failure domain of its own. */
    public static final String NONE = "";
    /** Longest label; each character is one byte. */
    public static final int MAX_LABEL_LENGTH = 63;

    private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

    /** Checks both. */
    public FailureDomain
    {
        if (nodeId < 1 || !isLabel(label))
        {
            throw new IllegalArgumentException("no failure domain: node=" + nodeId + ", label='" + label + "'");
        }
    }

    /**
     * @param text anything.
     * @return whether it may be the label of a failure domain: 1 to {@link #MAX_LABEL_LENGTH} letters, digits, '.', '_'
     *     and '-', of which the first is a letter or a digit.
     */
    public static boolean isLabel(final String text)
    {
        return LABEL.matcher(text).matches();
    }
}
