"""Starts the AWS emulator (MiniStack) as the tests need it.

Each function below changes one behaviour and says why: either the emulator differs from AWS there, or the tests must
play a part that AWS alone plays. They reach for private names, so the version is pinned and checked first.
"""

import importlib.metadata
import json
import re

import ministack.app as app
import ministack.core.iam_actions as iam_actions
import ministack.core.iam_evaluator as iam_evaluator
import ministack.core.lambda_runtime as lambda_runtime
import ministack.services.cloudformation.provisioners as provisioners
import ministack.services.ec2 as ec2
import ministack.services.eventbridge as eventbridge
import ministack.services.scheduler as scheduler
import ministack.services.sts as sts
import ministack.services.tagging as tagging
from ministack.core.responses import get_account_id, get_region

VERSION = "1.5.33"
SCHEDULE_SWEEP_SECONDS = 1


def check_version():
    found = importlib.metadata.version("ministack")
    if found != VERSION:
        raise SystemExit(f"this launcher is written for ministack {VERSION}, found {found}")


def let_tests_speak_for_aws():
    """AWS refuses events whose source begins with "aws."; here the tests are the ones who send them."""
    put_events = eventbridge._put_events

    def put_any_source(data, allow_aws_source=True):
        return put_events(data, allow_aws_source=True)

    eventbridge._put_events = put_any_source


def count_loopback_as_secure_transport():
    """Policies that demand aws:SecureTransport stay as they are deployed; http on loopback satisfies them here."""
    pin = app.pin_request_origin
    app.pin_request_origin = lambda source_ip, secure_transport: pin(source_ip, True)


def refer_to_secrets_by_arn():
    """On AWS, Ref of a secret is its ARN; the emulator gives the name, and the policies built from it match nothing."""
    handlers = provisioners._RESOURCE_HANDLERS["AWS::SecretsManager::Secret"]
    create, update, delete = handlers["create"], handlers["update"], handlers["delete"]

    def name_of(physical_id):
        # arn:aws:secretsmanager:<region>:<account>:secret:<name>-<six characters>
        _, found, tail = physical_id.partition(":secret:")
        return tail.rpartition("-")[0] if found else physical_id

    def create_with_arn(*args):
        _, attributes = create(*args)
        return attributes["Arn"], attributes

    def update_with_arn(physical_id, *args, **kwargs):
        _, attributes = update(name_of(physical_id), *args, **kwargs)
        return attributes["Arn"], attributes

    def delete_by_arn(physical_id, props):
        return delete(name_of(physical_id), props)

    handlers.update(create=create_with_arn, update=update_with_arn, delete=delete_by_arn)


def keep_network_and_concurrency_of_functions():
    """CloudFormation's VpcConfig and ReservedConcurrentExecutions are dropped by the emulator; tests look at them."""
    handlers = provisioners._RESOURCE_HANDLERS["AWS::Lambda::Function"]
    create, update = handlers["create"], handlers["update"]

    def keep(name, props):
        function = provisioners._lambda_svc._functions.get(name)
        if function is None:
            return
        network = props.get("VpcConfig")
        if network:
            function["config"]["VpcConfig"] = {
                "SubnetIds": network.get("SubnetIds", []),
                "SecurityGroupIds": network.get("SecurityGroupIds", []),
                "VpcId": "",
            }
        reserved = props.get("ReservedConcurrentExecutions")
        if reserved is not None:
            function["concurrency"] = int(reserved)

    def create_and_keep(logical_id, props, stack_name):
        result = create(logical_id, props, stack_name)
        keep(result[0], props)
        return result

    def update_and_keep(physical_id, old_props, new_props, *args, **kwargs):
        result = update(physical_id, old_props, new_props, *args, **kwargs)
        keep(result[0], new_props)
        return result

    handlers.update(create=create_and_keep, update=update_and_keep)


def sweep_schedules_often():
    """Schedules are looked at every ten seconds by default: too long to wait for in a test."""
    eventbridge._SCHEDULER_TICK_INTERVAL = SCHEDULE_SWEEP_SECONDS
    scheduler._SCHEDULE_TICK_INTERVAL = SCHEDULE_SWEEP_SECONDS


def leave_https_of_functions_alone():
    """The emulator's Node worker turns https://127.0.0.1 into plain http, so a function couldn't reach the relay."""
    opening = "function patchAwsSdk() {"
    script = lambda_runtime._NODEJS_WORKER_SCRIPT
    if opening not in script:
        raise SystemExit("the emulator's Node worker looks different from what this launcher expects")
    lambda_runtime._NODEJS_WORKER_SCRIPT = script.replace(opening, f"{opening} return;")


def answer_caller_identity_in_json():
    """STS answers GetCallerIdentity in JSON to whoever accepts JSON; the relay demands it."""
    handle = sts.handle_request

    async def handle_with_json(method, path, headers, body, query):
        status, answer_headers, answer = await handle(method, path, headers, body, query)
        action = (query.get("Action") or [""])[0]
        if action != "GetCallerIdentity" or "application/json" not in headers.get("accept", ""):
            return status, answer_headers, answer
        xml = answer if isinstance(answer, str) else answer.decode()
        content = json.dumps(identity_as_json(status, xml)).encode()
        return status, {**answer_headers, "Content-Type": "application/json"}, content

    sts.handle_request = handle_with_json


def identity_as_json(status, xml):
    def field(tag):
        found = re.search(f"<{tag}>([^<]*)</{tag}>", xml)
        return found[1] if found else None

    request_id = field("RequestId")
    if status != 200:
        error = {"Type": "Sender", "Code": field("Code"), "Message": field("Message")}
        return {"Error": error, "RequestId": request_id}
    result = {key: field(key) for key in ("Account", "Arn", "UserId")}
    answer = {"GetCallerIdentityResult": result, "ResponseMetadata": {"RequestId": request_id}}
    return {"GetCallerIdentityResponse": answer}


def name_sessions_by_their_role():
    """On AWS, aws:PrincipalArn of an assumed role is the role's ARN, not the session's: queue policies rely on it."""
    resolve = iam_evaluator._resolve_condition_key
    session = re.compile(r"arn:(aws[a-z-]*):sts::(\d{12}):assumed-role/([^/]+)/.+")

    def resolve_key(key, context):
        value = resolve(key, context)
        if key.lower() != "aws:principalarn" or not isinstance(value, str):
            return value
        found = session.fullmatch(value)
        return f"arn:{found[1]}:iam::{found[2]}:role/{found[3]}" if found else value

    iam_evaluator._resolve_condition_key = resolve_key


def authorize_batches_as_their_single_action():
    """SQS knows no action for a batch: `sqs:ChangeMessageVisibility` allows ChangeMessageVisibilityBatch as well.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html
    """
    extract = iam_actions.extract_iam_action

    def extract_single(*request):
        action = extract(*request)
        return action.removesuffix("Batch") if action and action.startswith("sqs:") else action

    iam_actions.extract_iam_action = extract_single


def know_tags_of_instances():
    """Conditions on aws:ResourceTag hold for instances too; the emulator looks up the tags of other services only."""

    def collect():
        for instance_id, tags in ec2._tags.items():
            yield f"arn:aws:ec2:{get_region()}:{get_account_id()}:instance/{instance_id}", tags

    tagging._RESOURCE_TAG_COLLECTORS["ec2"] = collect


if __name__ == "__main__":
    check_version()
    let_tests_speak_for_aws()
    count_loopback_as_secure_transport()
    refer_to_secrets_by_arn()
    keep_network_and_concurrency_of_functions()
    sweep_schedules_often()
    leave_https_of_functions_alone()
    answer_caller_identity_in_json()
    name_sessions_by_their_role()
    authorize_batches_as_their_single_action()
    know_tags_of_instances()
    app.main()
