package io.verbena.rdma.conformance;

/**
 * What one rule did on a path.
 *
 * @param group      what the rule is about.
 * @param rule       its name, {@code Contract.rule}.
 * @param verdict    the outcome.
 * @param detail     why it is unsupported, or how it failed, in one line; empty when it passed.
 * @param failure    what it threw; null when it passed.
 * @param durationNs how long it took.
 */
public record RuleResult(
    String group, String rule, Verdict verdict, String detail, Throwable failure, long durationNs)
{
    /** Outcome of a rule. */
    public enum Verdict
    {
        /** It holds. */
        PASS,
        /** It does not hold. */
        FAIL,
        /** It does not hold, and the allow-list of the path says why. */
        UNSUPPORTED
    }
}
