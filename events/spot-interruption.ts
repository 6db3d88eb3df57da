/**
 * EC2 takes a spot instance back, with two minutes' notice. The instance id comes from the detail: the ARN in
 * `resources` has a zone in the place of the region and no account.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
 */
import * as z from "zod";
import { INSTANCE_ID_PATTERN } from "../shared/domain/instance-id.ts";
import { defineEvent } from "./define-event.ts";

/** From the notice to the moment EC2 acts. */
const NOTICE_SECONDS = 120;

export const spotInterruption = defineEvent({
  name: "spot-interruption",
  source: "aws.ec2",
  detailType: "EC2 Spot Instance Interruption Warning",
  detail: z.object({
    "instance-id": z.string().regex(INSTANCE_ID_PATTERN, "is no EC2 instance id"),
    "instance-action": z.enum(["terminate", "stop", "hibernate"]),
  }),
  toSignal: ({ id, time }, detail) => {
    const action = detail["instance-action"];
    // Hibernation starts with the notice: there are no two minutes.
    const noticeSeconds = action === "hibernate" ? 0 : NOTICE_SECONDS;
    return {
      kind: "spot-interruption",
      id,
      instanceId: detail["instance-id"],
      at: time,
      action,
      deadline: new Date(time.getTime() + noticeSeconds * 1000),
    };
  },
});
